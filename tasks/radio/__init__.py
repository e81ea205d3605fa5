"""Visibilities of radio interferometers: file formats, templates, append and export."""
