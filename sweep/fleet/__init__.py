"""The workers of one machine and the devices they run on: started, listened to, reaped."""
