"""Checks a chat model's answer: a reader judges what its statements mean, the program proves what he says."""
