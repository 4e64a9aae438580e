"""The program that trains: one process a slot, told what to do over pipes."""
