"""Calls to addresses that merchants configure. They may reach the internet, but not our own network."""
