.PHONY: all
all:
