// Until the sources of this target land.
