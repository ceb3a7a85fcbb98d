"""What an operator gets, tried as it is shipped: the proxy's files, the scripts, the units."""
