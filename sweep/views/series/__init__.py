"""Series: the numbers of the plots, without a plot library, so that they can be tested."""
