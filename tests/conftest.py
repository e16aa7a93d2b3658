"""What all tests share: this folder can be imported from, and no test is judged by the clock."""

from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.load_profile("here")
