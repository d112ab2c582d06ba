class Configuration:
    values = {}

    def getboolean(self, section, key, fallback=None):
        return self.values.get((section, key), fallback)


conf = Configuration()
