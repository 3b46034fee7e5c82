"""Tests of the clients that ask services: calendars, endpoints and servers that misbehave."""
