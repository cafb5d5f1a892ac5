// The start of the tutorial.

startBench();
