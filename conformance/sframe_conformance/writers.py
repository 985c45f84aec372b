class Unusable(Exception):
    pass
