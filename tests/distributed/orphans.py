"""What ranks do whose caller is killed."""

import os
import time


def wait(team):
    team.tell(os.getpid())
    time.sleep(600)
