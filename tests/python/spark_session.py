"""A session that behaves as PySpark's does, without Spark: it writes the event log that it is given, as Spark writes one:
the last events and the final name come with stop(). Imports nothing of the tests, for programs of their own use it, too."""
import json
import os
import pathlib
import shutil
import subprocess
import types
import urllib.parse


def compressed(codec, content):
    return content if codec is None else subprocess.run([codec, "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout


def of_log(log):
    """The id, the attempt and the name of the application that a log is of."""
    for line in log.splitlines():
        if b"SparkListenerApplicationStart" in line:
            start = json.loads(line)
            return start["App ID"], start.get("App Attempt ID"), start["App Name"]
    raise AssertionError("no start of an application")


class Option:
    """Scala's."""

    def __init__(self, value):
        self._value = value

    def isDefined(self):
        return self._value is not None

    def get(self):
        return self._value


class Conf:
    def __init__(self, settings):
        self._settings = dict(settings)

    def get(self, key, default=None):
        return self._settings.get(key, default)

    def getAll(self):
        return list(self._settings.items())


# --- Hadoop, as the gateway shows it: hdfs://NAME is the folder that `Hadoop` was made with ---


class Hadoop:
    def __init__(self, folder):
        self.folder, self.dead, self.copies = pathlib.Path(folder), False, 0
        self.configuration = object()

    def Path(self, uri):
        return HadoopPath(self, uri)

    def real(self, path):
        if self.dead:
            raise ConnectionRefusedError(111, "Answer from Java side is empty")
        parts = urllib.parse.urlsplit(path.uri)  # as it is: Hadoop's Path decodes nothing
        return pathlib.Path(parts.path) if parts.scheme == "file" else self.folder / parts.path.lstrip("/")


class HadoopPath:
    def __init__(self, hadoop, uri):
        self.hadoop, self.uri = hadoop, uri

    def getFileSystem(self, configuration):
        assert configuration is self.hadoop.configuration
        return HadoopFileSystem(self.hadoop)


class HadoopFileSystem:
    def __init__(self, hadoop):
        self._hadoop = hadoop

    def exists(self, path):
        return self._hadoop.real(path).exists()

    def copyToLocalFile(self, delete, source, target, raw):
        assert delete is False and raw is True  # without raw, files of checksums lie beside it
        real, to = self._hadoop.real(source), self._hadoop.real(target)
        self._hadoop.copies += 1
        if real.is_dir():
            shutil.copytree(real, to)
        else:
            shutil.copyfile(real, to)


# --- Spark ---


class JavaContext:
    """What runs in the JVM, and writes the log."""

    def __init__(self, settings, log, hadoop, attempt):
        self._settings, self._log, self._hadoop, self._attempt = settings, log, hadoop, attempt
        self.stopped = False
        if settings.get("spark.eventLog.enabled") == "true":
            self._begin()

    def _begin(self):
        uri = self._settings["spark.eventLog.dir"]
        parts = urllib.parse.urlsplit(uri)
        folder = self._hadoop.real(self._hadoop.Path(urllib.parse.unquote(uri))) if parts.scheme not in ("", "file") else pathlib.Path(urllib.parse.unquote(parts.path))
        lines = self._log.splitlines(keepends=True)
        self._codec = self._settings.get("spark.eventLog.compression.codec", "zstd") if self._settings.get("spark.eventLog.compress") == "true" else None
        name = self._settings["spark.app.id"] + ("_" + self._attempt if self._attempt else "")
        ending = "." + self._codec if self._codec else ""
        half = len(lines) // 2
        self._rolling = self._settings.get("spark.eventLog.rolling.enabled") == "true"
        if self._rolling:
            self._folder = folder / ("eventlog_v2_" + name)
            self._folder.mkdir(parents=True)
            self._status = self._folder / ("appstatus_%s" % name)
            pathlib.Path(str(self._status) + ".inprogress").touch()
            third = len(lines) // 3
            pieces = [lines[:third], lines[third:half], lines[half:]]
            # The eight before are compacted into the ninth; as texts, 10 comes before 9.
            names = ["events_9_%s%s.compact", "events_10_%s%s", "events_11_%s%s"]
            self._parts = [(self._folder / (part % (name, ending)), b"".join(piece)) for part, piece in zip(names, pieces)]
            for path, piece in self._parts[:2]:
                path.write_bytes(compressed(self._codec, piece))
        else:
            self._path = folder / (name + ending)
            folder.mkdir(parents=True, exist_ok=True)
            pathlib.Path(str(self._path) + ".inprogress").write_bytes(compressed(self._codec, b"".join(lines[:half])))

    def stop(self):
        self.stopped = True
        if self._settings.get("spark.eventLog.enabled") != "true":
            return
        if self._rolling:
            path, piece = self._parts[2]
            path.write_bytes(compressed(self._codec, piece))
            os.rename(str(self._status) + ".inprogress", self._status)
        else:
            beside = pathlib.Path(str(self._path) + ".inprogress")
            beside.write_bytes(compressed(self._codec, self._log))
            beside.rename(self._path)

    def sc(self):
        return types.SimpleNamespace(applicationAttemptId=lambda: Option(self._attempt))

    def hadoopConfiguration(self):
        return self._hadoop.configuration


class SparkContext:
    def __init__(self, settings, log, hadoop, attempt):
        self._conf = Conf(settings)
        self._jvm = types.SimpleNamespace(org=types.SimpleNamespace(apache=types.SimpleNamespace(hadoop=types.SimpleNamespace(fs=hadoop))))
        self._jsc = JavaContext(settings, log, hadoop, attempt)
        self.stops = 0

    def getConf(self):
        return Conf(self._conf.getAll())

    @property
    def applicationId(self):
        assert self._jsc is not None, "the context was stopped"
        return self._conf.get("spark.app.id")

    @property
    def uiWebUrl(self):
        return "http://driver.sample:4040"

    def stop(self):
        self.stops += 1
        if self._jsc is not None:
            try:
                self._jsc.stop()
            finally:
                self._jsc = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()


class SparkSession:
    def __init__(self, context):
        self._sc, self._jvm = context, context._jvm
        self.cleared = 0

    @property
    def sparkContext(self):
        return self._sc

    def newSession(self):
        return SparkSession(self._sc)

    def stop(self):
        """Shut down the context."""
        self._sc.stop()
        self.cleared += 1

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()


def session(log, folder, hadoop=None, name=None, attempt=None, **settings):
    """A session whose event log will be `log` (bytes) in `folder` (a path or a URI). settings: of spark.eventLog."""
    identifier, _, of_name = of_log(log)
    properties = {"spark.app.id": identifier, "spark.app.name": name or of_name, "spark.eventLog.enabled": "true", "spark.eventLog.dir": str(folder)}
    properties.update({"spark.eventLog." + key.replace("_", "."): value for key, value in settings.items() if value is not None})
    return SparkSession(SparkContext(properties, log, hadoop or Hadoop(folder), attempt))


def pyspark(log):
    """Modules in the place of pyspark: the builder makes sessions whose event log will be `log`."""

    class Builder:
        def __init__(self, **properties):
            self.properties = properties

        def config(self, key, value):
            return Builder(**self.properties, **{key: value})

        def appName(self, name):
            return self.config("spark.app.name", name)

        def getOrCreate(self):
            return SparkSession(SparkContext({"spark.app.id": of_log(log)[0], **self.properties}, log, None, None))

    module = types.ModuleType("pyspark.sql")
    module.SparkSession = types.SimpleNamespace(builder=Builder())
    return {"pyspark": types.ModuleType("pyspark"), "pyspark.sql": module}
