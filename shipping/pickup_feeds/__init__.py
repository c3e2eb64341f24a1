"""Imports carriers' feeds of pickup points: read as a stream, checked line by line, written in one transaction."""
