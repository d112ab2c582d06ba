#include "core/spark/property_type.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/spark/property_value.h"

#define ANY ((double)-INFINITY)
#define INFINITE ((double)INFINITY)
#define ABOVE_0 DBL_TRUE_MIN
#define BELOW_1 (1 - DBL_EPSILON / 2)
#define INT_MOST 2147483647.0
#define LONG_MOST 0x1p63
/* ByteArrayMethods.MAX_ROUNDED_ARRAY_LENGTH */
#define ARRAY_MOST (INT_MOST - 15)

#define CORE "internal/config/package"
#define KRYO "internal/config/Kryo; serializer/KryoSerializer"
#define NETWORK "internal/config/Network"
#define UI "internal/config/UI, internal/config/Status"
#define SQL "sql/internal/SQLConf"
#define K8S "deploy/k8s/Config"
#define YARN "deploy/yarn/config"
#define TRANSPORT "network/util/TransportConf"
#define MANAGER "ExecutorAllocationManager.validateSettings"
#define OFF_HEAP "internal/config/package; util/Utils.executorOffHeapMemorySizeAsMb"
#define SUBMIT "deploy/SparkSubmitArguments.validateSubmitArguments"
#define RESOURCES "resource/ResourceUtils.parseResourceRequest, parseResourceRequirements"
#define SERVERLESS "Amazon EMR Serverless User Guide, Using Spark configurations"

/* clang-format off */
#define FLAG(key, source) {key, PROPERTY_BOOLEAN, NULL, 0, 1, source}
#define WHOLE(key, least, source) {key, PROPERTY_WHOLE, NULL, least, INT_MOST, source}
#define LONG(key, source) {key, PROPERTY_WHOLE, NULL, ANY, LONG_MOST, source}
#define NUMBER(key, least, most, source) {key, PROPERTY_NUMBER, NULL, least, most, source}
#define TIME(key, unit, least, source) {key, PROPERTY_TIME, unit, least, INFINITE, source}
#define SIZE(key, unit, least, most, source) {key, PROPERTY_SIZE, unit, least, most, source}
#define CORES(key, source) {key, PROPERTY_CORES, NULL, 0.001, INT_MOST, source}

const struct property_type property_types[] = {
    FLAG("spark.authenticate", CORE),
    FLAG("spark.authenticate.enableSaslEncryption", CORE),
    WHOLE("spark.authenticate.secretBitLength", ANY, CORE),
    TIME("spark.barrier.sync.timeout", "1s", 1, CORE),
    FLAG("spark.blacklist.application.fetchFailure.enabled", CORE),
    FLAG("spark.blacklist.enabled", CORE),
    FLAG("spark.blacklist.killBlacklistedExecutors", CORE),
    TIME("spark.blacklist.timeout", "1ms", ANY, CORE),
    WHOLE("spark.block.failures.beforeLocationRefresh", ANY, CORE),
    WHOLE("spark.blockManager.port", ANY, CORE),
    SIZE("spark.broadcast.UDFCompressionThreshold", "1b", 0, INFINITE, CORE),
    SIZE("spark.broadcast.blockSize", "1k", ANY, INFINITE, CORE),
    FLAG("spark.broadcast.checksum", CORE),
    FLAG("spark.broadcast.compress", CORE),
    SIZE("spark.buffer.pageSize", "1b", ANY, INFINITE, CORE),
    WHOLE("spark.buffer.size", 0, CORE),
    FLAG("spark.checkpoint.compress", CORE),
    TIME("spark.cleaner.periodicGC.interval", "1s", ANY, CORE),
    FLAG("spark.cleaner.referenceTracking", CORE),
    FLAG("spark.cleaner.referenceTracking.blocking", CORE),
    FLAG("spark.cleaner.referenceTracking.blocking.shuffle", CORE),
    FLAG("spark.cleaner.referenceTracking.cleanCheckpoints", CORE),
    WHOLE("spark.cores.max", 1, "deploy/master/Master.startExecutorsOnWorkers"),
    FLAG("spark.decommission.enabled", CORE),
    WHOLE("spark.default.parallelism", ANY, "scheduler/TaskSchedulerImpl.defaultParallelism"),
    WHOLE("spark.diskStore.subDirectories", 1, CORE),
    WHOLE("spark.driver.blockManager.port", ANY, CORE),
    WHOLE("spark.driver.cores", ANY, CORE),
    FLAG("spark.driver.log.persistToDfs.enabled", CORE),
    SIZE("spark.driver.maxResultSize", "1b", ANY, INFINITE, CORE),
    SIZE("spark.driver.memory", "1m", 1, INT_MOST, CORE),
    SIZE("spark.driver.memoryOverhead", "1m", 0, INT_MOST, CORE),
    NUMBER("spark.driver.memoryOverheadFactor", ABOVE_0, INFINITE, CORE),
    SIZE("spark.driver.minMemoryOverhead", "1m", 0, INT_MOST, CORE),
    WHOLE("spark.driver.port", ANY, CORE),
    FLAG("spark.driver.supervise", CORE),
    TIME("spark.driver.timeout", "1min", 0, CORE),
    FLAG("spark.driver.userClassPathFirst", CORE),
    TIME("spark.dynamicAllocation.cachedExecutorIdleTimeout", "1s", 0, CORE),
    FLAG("spark.dynamicAllocation.enabled", CORE),
    NUMBER("spark.dynamicAllocation.executorAllocationRatio", ABOVE_0, 1, MANAGER),
    TIME("spark.dynamicAllocation.executorIdleTimeout", "1s", 0, CORE),
    WHOLE("spark.dynamicAllocation.initialExecutors", 0, MANAGER),
    WHOLE("spark.dynamicAllocation.maxExecutors", 1, MANAGER),
    WHOLE("spark.dynamicAllocation.minExecutors", 0, MANAGER),
    TIME("spark.dynamicAllocation.schedulerBacklogTimeout", "1s", 1, MANAGER),
    FLAG("spark.dynamicAllocation.shuffleTracking.enabled", CORE),
    TIME("spark.dynamicAllocation.shuffleTracking.timeout", "1ms", 0, CORE),
    TIME("spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", "1s", 1, MANAGER),
    SIZE("spark.emr-serverless.driver.disk", "1g", ANY, INFINITE, SERVERLESS),
    SIZE("spark.emr-serverless.executor.disk", "1g", ANY, INFINITE, SERVERLESS),
    SIZE("spark.eventLog.buffer.kb", "1k", ANY, INFINITE, CORE),
    FLAG("spark.eventLog.compress", CORE),
    FLAG("spark.eventLog.enabled", CORE),
    FLAG("spark.eventLog.erasureCoding.enabled", CORE),
    FLAG("spark.eventLog.logBlockUpdates.enabled", CORE),
    FLAG("spark.eventLog.logStageExecutorMetrics", CORE),
    FLAG("spark.eventLog.longForm.enabled", CORE),
    FLAG("spark.eventLog.overwrite", CORE),
    FLAG("spark.eventLog.rolling.enabled", CORE),
    SIZE("spark.eventLog.rolling.maxFileSize", "1b", 10485760, INFINITE, CORE),
    FLAG("spark.excludeOnFailure.application.fetchFailure.enabled", CORE),
    WHOLE("spark.excludeOnFailure.application.maxFailedExecutorsPerNode", ANY, CORE),
    WHOLE("spark.excludeOnFailure.application.maxFailedTasksPerExecutor", ANY, CORE),
    FLAG("spark.excludeOnFailure.enabled", CORE),
    FLAG("spark.excludeOnFailure.killExcludedExecutors", CORE),
    FLAG("spark.excludeOnFailure.killExcludedExecutors.decommission", CORE),
    WHOLE("spark.excludeOnFailure.stage.maxFailedExecutorsPerNode", ANY, CORE),
    WHOLE("spark.excludeOnFailure.stage.maxFailedTasksPerExecutor", ANY, CORE),
    WHOLE("spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor", ANY, CORE),
    WHOLE("spark.excludeOnFailure.task.maxTaskAttemptsPerNode", ANY, CORE),
    TIME("spark.excludeOnFailure.timeout", "1ms", ANY, CORE),
    FLAG("spark.executor.allowSparkContext", CORE),
    WHOLE("spark.executor.cores", 1, SUBMIT),
    TIME("spark.executor.decommission.forceKillTimeout", "1s", ANY, CORE),
    TIME("spark.executor.decommission.killInterval", "1s", ANY, CORE),
    TIME("spark.executor.failuresValidityInterval", "1ms", ANY, CORE),
    WHOLE("spark.executor.heartbeat.maxFailures", ANY, CORE),
    TIME("spark.executor.heartbeatInterval", "1ms", ANY, CORE),
    WHOLE("spark.executor.instances", 0, CORE),
    FLAG("spark.executor.logs.rolling.enableCompression", CORE),
    WHOLE("spark.executor.logs.rolling.maxRetainedFiles", ANY, CORE),
    WHOLE("spark.executor.maxNumFailures", ANY, CORE),
    SIZE("spark.executor.memory", "1m", 1, INT_MOST, CORE),
    SIZE("spark.executor.memoryOverhead", "1m", 0, INT_MOST, CORE),
    NUMBER("spark.executor.memoryOverheadFactor", ABOVE_0, INFINITE, CORE),
    TIME("spark.executor.metrics.pollingInterval", "1ms", ANY, CORE),
    SIZE("spark.executor.minMemoryOverhead", "1m", 0, INT_MOST, CORE),
    FLAG("spark.executor.processTreeMetrics.enabled", CORE),
    SIZE("spark.executor.pyspark.memory", "1m", 0, INT_MOST, "internal/config/Python"),
    FLAG("spark.executor.syncLogLevel.enabled", CORE),
    FLAG("spark.executor.userClassPathFirst", CORE),
    FLAG("spark.file.transferTo", CORE),
    FLAG("spark.files.fetchFailure.unRegisterOutputOnHost", CORE),
    FLAG("spark.files.ignoreCorruptFiles", CORE),
    FLAG("spark.files.ignoreMissingFiles", CORE),
    SIZE("spark.files.maxPartitionBytes", "1b", ANY, INFINITE, CORE),
    SIZE("spark.files.openCostInBytes", "1b", ANY, INFINITE, CORE),
    FLAG("spark.hadoopRDD.ignoreEmptySplits", CORE),
    SIZE("spark.io.compression.lz4.blockSize", "1b", ANY, INFINITE, CORE),
    SIZE("spark.io.compression.snappy.blockSize", "1b", ANY, INFINITE, CORE),
    FLAG("spark.io.compression.zstd.bufferPool.enabled", CORE),
    SIZE("spark.io.compression.zstd.bufferSize", "1b", ANY, INFINITE, CORE),
    WHOLE("spark.io.compression.zstd.level", ANY, CORE),
    WHOLE("spark.io.compression.zstd.workers", 0, CORE),
    FLAG("spark.io.encryption.enabled", CORE),
    TIME("spark.kerberos.relogin.period", "1s", ANY, CORE),
    FLAG("spark.kryo.pool", KRYO),
    FLAG("spark.kryo.referenceTracking", KRYO),
    FLAG("spark.kryo.registrationRequired", KRYO),
    FLAG("spark.kryo.unsafe", KRYO),
    SIZE("spark.kryoserializer.buffer", "1k", ANY, 2097151, KRYO),
    SIZE("spark.kryoserializer.buffer.max", "1m", ANY, 2047, KRYO),
    TIME("spark.kubernetes.allocation.batch.delay", "1ms", 1, K8S),
    WHOLE("spark.kubernetes.allocation.batch.size", 1, K8S),
    WHOLE("spark.kubernetes.allocation.maxPendingPods", 1, K8S),
    CORES("spark.kubernetes.driver.limit.cores", K8S),
    CORES("spark.kubernetes.driver.request.cores", K8S),
    FLAG("spark.kubernetes.executor.deleteOnTermination", K8S),
    CORES("spark.kubernetes.executor.limit.cores", K8S),
    CORES("spark.kubernetes.executor.request.cores", K8S),
    FLAG("spark.kubernetes.local.dirs.tmpfs", K8S),
    NUMBER("spark.kubernetes.memoryOverheadFactor", 0, INFINITE, K8S),
    TIME("spark.kubernetes.report.interval", "1ms", 1, K8S),
    FLAG("spark.kubernetes.submission.waitAppCompletion", K8S),
    FLAG("spark.kubernetes.trust.certificates", K8S),
    TIME("spark.locality.wait", "1ms", ANY, CORE),
    FLAG("spark.locality.wait.legacyResetOnTaskLaunch", CORE),
    TIME("spark.locality.wait.node", "1ms", ANY, CORE),
    TIME("spark.locality.wait.process", "1ms", ANY, CORE),
    TIME("spark.locality.wait.rack", "1ms", ANY, CORE),
    FLAG("spark.log.structuredLogging.enabled", CORE),
    NUMBER("spark.memory.fraction", ABOVE_0, 1, "SparkConf.validateSettings"),
    FLAG("spark.memory.offHeap.enabled", CORE),
    SIZE("spark.memory.offHeap.size", "1b", 0, INT_MOST * 1048576, OFF_HEAP),
    NUMBER("spark.memory.storageFraction", 0, BELOW_1, CORE),
    FLAG("spark.metrics.executorMetricsSource.enabled", CORE),
    FLAG("spark.metrics.staticSources.enabled", CORE),
    FLAG("spark.network.crypto.enabled", NETWORK),
    FLAG("spark.network.crypto.saslFallback", NETWORK),
    SIZE("spark.network.maxRemoteBlockSizeFetchToMem", "1b", ANY, INT_MOST - 512, CORE),
    TIME("spark.network.timeout", "1s", ANY, NETWORK),
    TIME("spark.network.timeoutInterval", "1ms", ANY, NETWORK),
    WHOLE("spark.port.maxRetries", ANY, NETWORK),
    FLAG("spark.python.profile", "internal/config/Python"),
    FLAG("spark.python.worker.reuse", "internal/config/Python"),
    FLAG("spark.rdd.compress", CORE),
    WHOLE("spark.rdd.limit.initialNumPartitions", 1, CORE),
    WHOLE("spark.rdd.limit.scaleUpFactor", ANY, CORE),
    WHOLE("spark.rdd.parallelListingThreshold", ANY, CORE),
    WHOLE("spark.reducer.maxBlocksInFlightPerAddress", 1, CORE),
    WHOLE("spark.reducer.maxReqsInFlight", ANY, CORE),
    SIZE("spark.reducer.maxSizeInFlight", "1m", ANY, INFINITE, CORE),
    TIME("spark.rpc.askTimeout", "1s", ANY, "util/RpcUtils"),
    WHOLE("spark.rpc.io.numConnectionsPerPeer", ANY, NETWORK),
    TIME("spark.rpc.lookupTimeout", "1s", ANY, "util/RpcUtils"),
    WHOLE("spark.rpc.message.maxSize", ANY, NETWORK),
    WHOLE("spark.rpc.netty.dispatcher.numThreads", ANY, NETWORK),
    WHOLE("spark.rpc.numRetries", ANY, NETWORK),
    TIME("spark.rpc.retry.wait", "1ms", ANY, NETWORK),
    TIME("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s", ANY, CORE),
    WHOLE("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", 1, CORE),
    TIME("spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout", "1s", 0, CORE),
    WHOLE("spark.scheduler.listenerbus.eventqueue.capacity", 1, CORE),
    TIME("spark.scheduler.maxRegisteredResourcesWaitingTime", "1ms", ANY, CORE),
    NUMBER("spark.scheduler.minRegisteredResourcesRatio", ANY, INFINITE, CORE),
    FLAG("spark.scheduler.resource.profileMergeConflicts", CORE),
    TIME("spark.scheduler.revive.interval", "1ms", ANY, CORE),
    NUMBER("spark.security.credentials.renewalRatio", ANY, INFINITE, CORE),
    TIME("spark.security.credentials.retryWait", "1s", ANY, CORE),
    FLAG("spark.serializer.extraDebugInfo", CORE),
    WHOLE("spark.serializer.objectStreamReset", ANY, CORE),
    SIZE("spark.shuffle.accurateBlockThreshold", "1b", ANY, INFINITE, CORE),
    FLAG("spark.shuffle.checksum.enabled", CORE),
    FLAG("spark.shuffle.compress", CORE),
    FLAG("spark.shuffle.detectCorrupt", CORE),
    FLAG("spark.shuffle.detectCorrupt.useExtraMemory", CORE),
    SIZE("spark.shuffle.file.buffer", "1k", 1, ARRAY_MOST / 1024, CORE),
    WHOLE("spark.shuffle.io.clientThreads", ANY, TRANSPORT),
    TIME("spark.shuffle.io.connectionTimeout", "1s", ANY, TRANSPORT),
    WHOLE("spark.shuffle.io.maxRetries", ANY, TRANSPORT),
    WHOLE("spark.shuffle.io.numConnectionsPerPeer", ANY, TRANSPORT),
    FLAG("spark.shuffle.io.preferDirectBufs", TRANSPORT),
    TIME("spark.shuffle.io.retryWait", "1s", ANY, TRANSPORT),
    WHOLE("spark.shuffle.io.serverThreads", ANY, TRANSPORT),
    WHOLE("spark.shuffle.mapOutput.dispatcher.numThreads", ANY, CORE),
    SIZE("spark.shuffle.mapOutput.minSizeForBroadcast", "1b", ANY, INFINITE, CORE),
    WHOLE("spark.shuffle.mapOutput.parallelAggregationThreshold", 1, CORE),
    WHOLE("spark.shuffle.maxAccurateSkewedBlockNumber", 1, CORE),
    WHOLE("spark.shuffle.minNumPartitionsToHighlyCompress", 1, CORE),
    FLAG("spark.shuffle.push.enabled", CORE),
    TIME("spark.shuffle.push.finalize.timeout", "1s", 0, CORE),
    SIZE("spark.shuffle.push.maxBlockBatchSize", "1b", ANY, INFINITE, CORE),
    SIZE("spark.shuffle.push.maxBlockSizeToPush", "1b", ANY, INFINITE, CORE),
    TIME("spark.shuffle.push.results.timeout", "1s", 0, CORE),
    FLAG("spark.shuffle.readHostLocalDisk", CORE),
    FLAG("spark.shuffle.reduceLocality.enabled", CORE),
    WHOLE("spark.shuffle.registration.maxAttempts", ANY, CORE),
    TIME("spark.shuffle.registration.timeout", "1ms", ANY, CORE),
    FLAG("spark.shuffle.service.db.enabled", CORE),
    FLAG("spark.shuffle.service.enabled", CORE),
    FLAG("spark.shuffle.service.fetch.rdd.enabled", CORE),
    WHOLE("spark.shuffle.service.port", ANY, CORE),
    FLAG("spark.shuffle.service.removeShuffle", CORE),
    WHOLE("spark.shuffle.sort.bypassMergeThreshold", ANY, CORE),
    SIZE("spark.shuffle.sort.initialBufferSize", "1b", 1, INT_MOST, CORE),
    FLAG("spark.shuffle.sort.useRadixSort", CORE),
    LONG("spark.shuffle.spill.batchSize", CORE),
    FLAG("spark.shuffle.spill.compress", CORE),
    SIZE("spark.shuffle.spill.diskWriteBufferSize", "1b", 13, ARRAY_MOST, CORE),
    FLAG("spark.shuffle.sync", CORE),
    FLAG("spark.shuffle.unsafe.fastMergeEnabled", CORE),
    SIZE("spark.shuffle.unsafe.file.output.buffer", "1k", 1, ARRAY_MOST / 1024, CORE),
    FLAG("spark.shuffle.useOldFetchProtocol", CORE),
    FLAG("spark.speculation", CORE),
    FLAG("spark.speculation.efficiency.enabled", CORE),
    NUMBER("spark.speculation.efficiency.longRunTaskFactor", 1, INFINITE, CORE),
    NUMBER("spark.speculation.efficiency.processRateMultiplier", ABOVE_0, 1, CORE),
    TIME("spark.speculation.interval", "1ms", ANY, CORE),
    TIME("spark.speculation.minTaskRuntime", "1ms", ANY, CORE),
    NUMBER("spark.speculation.multiplier", ANY, INFINITE, CORE),
    NUMBER("spark.speculation.quantile", ANY, INFINITE, CORE),
    TIME("spark.speculation.task.duration.threshold", "1ms", ANY, CORE),
    SIZE("spark.sql.adaptive.advisoryPartitionSizeInBytes", "1b", ANY, INFINITE, SQL),
    SIZE("spark.sql.adaptive.autoBroadcastJoinThreshold", "1b", ANY, INFINITE, SQL),
    FLAG("spark.sql.adaptive.coalescePartitions.enabled", SQL),
    WHOLE("spark.sql.adaptive.coalescePartitions.initialPartitionNum", 1, SQL),
    WHOLE("spark.sql.adaptive.coalescePartitions.minPartitionNum", 1, SQL),
    SIZE("spark.sql.adaptive.coalescePartitions.minPartitionSize", "1b", 1, INFINITE, SQL),
    FLAG("spark.sql.adaptive.coalescePartitions.parallelismFirst", SQL),
    FLAG("spark.sql.adaptive.enabled", SQL),
    FLAG("spark.sql.adaptive.fetchShuffleBlocksInBatch", SQL),
    FLAG("spark.sql.adaptive.forceOptimizeSkewedJoin", SQL),
    FLAG("spark.sql.adaptive.localShuffleReader.enabled", SQL),
    NUMBER("spark.sql.adaptive.nonEmptyPartitionRatioForBroadcastJoin", 0, INFINITE, SQL),
    FLAG("spark.sql.adaptive.skewJoin.enabled", SQL),
    NUMBER("spark.sql.adaptive.skewJoin.skewedPartitionFactor", 0, INFINITE, SQL),
    SIZE("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "1b", ANY, INFINITE, SQL),
    FLAG("spark.sql.ansi.enabled", SQL),
    SIZE("spark.sql.autoBroadcastJoinThreshold", "1b", ANY, INFINITE, SQL),
    TIME("spark.sql.broadcastTimeout", "1s", ANY, SQL),
    FLAG("spark.sql.caseSensitive", SQL),
    FLAG("spark.sql.cbo.enabled", SQL),
    FLAG("spark.sql.cbo.joinReorder.enabled", SQL),
    WHOLE("spark.sql.codegen.maxFields", ANY, SQL),
    FLAG("spark.sql.codegen.wholeStage", SQL),
    FLAG("spark.sql.crossJoin.enabled", SQL),
    FLAG("spark.sql.exchange.reuse", SQL),
    WHOLE("spark.sql.execution.arrow.maxRecordsPerBatch", ANY, SQL),
    FLAG("spark.sql.execution.arrow.pyspark.enabled", SQL),
    FLAG("spark.sql.execution.arrow.pyspark.fallback.enabled", SQL),
    FLAG("spark.sql.files.ignoreCorruptFiles", SQL),
    FLAG("spark.sql.files.ignoreMissingFiles", SQL),
    SIZE("spark.sql.files.maxPartitionBytes", "1b", ANY, INFINITE, SQL),
    LONG("spark.sql.files.maxRecordsPerFile", SQL),
    WHOLE("spark.sql.files.minPartitionNum", 1, SQL),
    SIZE("spark.sql.files.openCostInBytes", "1b", ANY, INFINITE, SQL),
    FLAG("spark.sql.hive.convertMetastoreOrc", SQL),
    FLAG("spark.sql.hive.convertMetastoreParquet", SQL),
    WHOLE("spark.sql.inMemoryColumnarStorage.batchSize", ANY, SQL),
    FLAG("spark.sql.inMemoryColumnarStorage.compressed", SQL),
    FLAG("spark.sql.join.preferSortMergeJoin", SQL),
    SIZE("spark.sql.maxSinglePartitionBytes", "1b", ANY, INFINITE, SQL),
    FLAG("spark.sql.optimizer.dynamicPartitionPruning.enabled", SQL),
    FLAG("spark.sql.orc.enableVectorizedReader", SQL),
    FLAG("spark.sql.orc.filterPushdown", SQL),
    FLAG("spark.sql.parquet.binaryAsString", SQL),
    FLAG("spark.sql.parquet.enableVectorizedReader", SQL),
    FLAG("spark.sql.parquet.filterPushdown", SQL),
    FLAG("spark.sql.parquet.mergeSchema", SQL),
    FLAG("spark.sql.parquet.writeLegacyFormat", SQL),
    WHOLE("spark.sql.shuffle.partitions", 1, SQL),
    FLAG("spark.sql.sources.bucketing.enabled", SQL),
    FLAG("spark.sql.statistics.fallBackToHdfs", SQL),
    FLAG("spark.sql.statistics.histogram.enabled", SQL),
    FLAG("spark.sql.statistics.size.autoUpdate.enabled", SQL),
    FLAG("spark.stage.ignoreDecommissionFetchFailure", CORE),
    WHOLE("spark.stage.maxConsecutiveAttempts", ANY, CORE),
    FLAG("spark.standalone.submit.waitAppCompletion", CORE),
    TIME("spark.storage.blockManagerHeartbeatTimeoutMs", "1ms", ANY, CORE),
    TIME("spark.storage.blockManagerTimeoutIntervalMs", "1ms", ANY, CORE),
    FLAG("spark.storage.cleanupFilesAfterExecutorExit", CORE),
    FLAG("spark.storage.decommission.enabled", CORE),
    FLAG("spark.storage.decommission.fallbackStorage.cleanUp", CORE),
    FLAG("spark.storage.decommission.rddBlocks.enabled", CORE),
    TIME("spark.storage.decommission.replicationReattemptInterval", "1ms", 1, CORE),
    FLAG("spark.storage.decommission.shuffleBlocks.enabled", CORE),
    SIZE("spark.storage.decommission.shuffleBlocks.maxDiskSize", "1b", ANY, INFINITE, CORE),
    WHOLE("spark.storage.decommission.shuffleBlocks.maxThreads", 1, CORE),
    WHOLE("spark.storage.localDiskByExecutors.cacheSize", ANY, CORE),
    WHOLE("spark.storage.maxReplicationFailures", ANY, CORE),
    SIZE("spark.storage.memoryMapThreshold", "1b", ANY, INFINITE, CORE),
    FLAG("spark.storage.replication.proactive", CORE),
    LONG("spark.storage.unrollMemoryThreshold", CORE),
    WHOLE("spark.task.cpus", 1, "resource/ResourceUtils.validateTaskCpusLargeEnough"),
    SIZE("spark.task.maxDirectResultSize", "1b", ANY, ARRAY_MOST - 1, CORE),
    WHOLE("spark.task.maxFailures", ANY, CORE),
    FLAG("spark.task.reaper.enabled", CORE),
    TIME("spark.task.reaper.killTimeout", "1ms", ANY, CORE),
    TIME("spark.task.reaper.pollingInterval", "1ms", ANY, CORE),
    FLAG("spark.task.reaper.threadDump", CORE),
    FLAG("spark.taskMetrics.trackUpdatedBlockStatuses", CORE),
    FLAG("spark.ui.enabled", UI),
    FLAG("spark.ui.killEnabled", UI),
    WHOLE("spark.ui.port", ANY, UI),
    FLAG("spark.ui.prometheus.enabled", UI),
    WHOLE("spark.ui.retainedJobs", ANY, UI),
    WHOLE("spark.ui.retainedStages", ANY, UI),
    WHOLE("spark.ui.retainedTasks", ANY, UI),
    FLAG("spark.ui.reverseProxy", UI),
    FLAG("spark.ui.showConsoleProgress", UI),
    FLAG("spark.ui.threadDumpsEnabled", UI),
    WHOLE("spark.yarn.am.cores", ANY, YARN),
    SIZE("spark.yarn.am.memory", "1m", 1, INT_MOST, YARN),
    SIZE("spark.yarn.am.memoryOverhead", "1m", 0, INT_MOST, YARN),
    WHOLE("spark.yarn.containerLauncherMaxThreads", ANY, YARN),
    SIZE("spark.yarn.driver.memoryOverhead", "1m", 0, INT_MOST, CORE),
    TIME("spark.yarn.executor.failuresValidityInterval", "1ms", ANY, YARN),
    SIZE("spark.yarn.executor.memoryOverhead", "1m", 0, INT_MOST, CORE),
    WHOLE("spark.yarn.max.executor.failures", ANY, YARN),
    WHOLE("spark.yarn.maxAppAttempts", ANY, YARN),
    FLAG("spark.yarn.preserve.staging.files", YARN),
    WHOLE("spark.yarn.priority", ANY, YARN),
    TIME("spark.yarn.report.interval", "1ms", ANY, YARN),
    TIME("spark.yarn.scheduler.heartbeat.interval-ms", "1ms", ANY, YARN),
    FLAG("spark.yarn.submit.waitAppCompletion", YARN),
};

/* The name of the resource stands before ".amount". */
static const struct property_type amounts[] = {
    WHOLE("spark.driver.resource.", 0, RESOURCES),
    WHOLE("spark.executor.resource.", 0, RESOURCES),
    NUMBER("spark.task.resource.", 0, INFINITE, RESOURCES),
};
/* clang-format on */

const size_t property_types_n = sizeof property_types / sizeof *property_types;

static int by_key(const void *wanted, const void *row)
{
    const struct strview *key = wanted;
    const struct property_type *type = row;
    size_t n = strlen(type->key);
    int order = memcmp(key->at, type->key, key->n < n ? key->n : n);
    return order != 0 ? order : (key->n > n) - (key->n < n);
}

static const struct property_type *amount_of(struct strview key)
{
    static const char end[] = ".amount";
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        size_t n = strlen(amounts[i].key);
        if (key.n > n + strlen(end) && memcmp(key.at, amounts[i].key, n) == 0 &&
            memcmp(key.at + key.n - strlen(end), end, strlen(end)) == 0)
            return &amounts[i];
    }
    return NULL;
}

const struct property_type *property_type_of(struct strview key)
{
    const struct property_type *amount = amount_of(key);
    if (amount != NULL)
        return amount;
    return key.n == 0
               ? NULL
               : bsearch(&key, property_types, property_types_n, sizeof *property_types, by_key);
}

/* --- values --- */

/* The value in the type's unit. False: it is not of the type. */
static bool read_value(const struct property_type *type, struct strview value, double *number)
{
    int64_t whole = 0, unit = 1;
    switch (type->kind) {
    case PROPERTY_BOOLEAN:
        *number = property_boolean(value, true);
        return property_boolean(value, true) == property_boolean(value, false);
    case PROPERTY_WHOLE:
        if (!property_whole(value, &whole))
            return false;
        *number = (double)whole;
        return true;
    case PROPERTY_NUMBER:
        *number = property_number(value);
        return !isnan(*number);
    case PROPERTY_TIME:
        *number = property_time(strview_of(type->unit), 1);
        *number = trunc(property_time(value, *number) / *number * (1 + 1e-12));
        return !isnan(*number);
    case PROPERTY_SIZE:
        if (!property_bytes(strview_of(type->unit), 1, &unit) ||
            !property_bytes(value, unit, &whole))
            return false;
        whole /= unit; /* Spark drops what is left over */
        *number = (double)whole;
        return true;
    case PROPERTY_CORES:
        *number = property_cores(value);
        return !isnan(*number);
    }
    return false;
}

bool property_type_reads(const struct property_type *type, struct strview value, bool *within)
{
    double number = 0;
    bool reads = read_value(type, value, &number);
    *within = reads && number >= type->least && number <= type->most;
    return reads;
}

size_t property_normalise(struct strview key, struct strview value, char *out)
{
    const struct property_type *type = property_type_of(key);
    int64_t whole = 0;
    bool within;
    if (type != NULL && type->kind != PROPERTY_CORES && property_type_reads(type, value, &within))
        value = property_trim(value);
    else
        type = NULL;
    memmove(out, value.at == NULL ? "" : value.at, value.n);
    if (type != NULL && type->kind == PROPERTY_BOOLEAN)
        for (size_t i = 0; i < value.n; i++)
            out[i] = (char)(out[i] | 0x20);
    if (type == NULL || type->kind != PROPERTY_WHOLE || !property_whole(value, &whole))
        return value.n;
    size_t first = out[0] == '+' || out[0] == '-', kept = whole < 0;
    while (first + 1 < value.n && out[first] == '0')
        first++;
    memmove(out + kept, out + first, value.n - first);
    return kept + value.n - first;
}

struct strview property_in_one_form(struct strview key, struct strview value, struct arena *arena)
{
    char *form = arena_alloc(arena, value.n + 1);
    if (form == NULL)
        return (struct strview){NULL, 0};
    size_t n = property_normalise(key, value, form);
    form[n] = '\0';
    return (struct strview){form, n};
}

/* --- words --- */

static const char *describe_number(const struct property_type *type)
{
    static const struct {
        double least, most;
        const char *words;
    } ranges[] = {{ABOVE_0, 1, "a number above 0 and at most 1"},
                  {0, BELOW_1, "a number of at least 0 and below 1"},
                  {ABOVE_0, INFINITE, "a number above 0"},
                  {0, INFINITE, "a number of at least 0"},
                  {1, INFINITE, "a number of at least 1"}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (type->least == ranges[i].least && type->most == ranges[i].most)
            return ranges[i].words;
    return "a number";
}

/* unit: "", or "1m", whose letters are written. */
static const char *describe_range(const struct property_type *type,
                                  const char *what,
                                  const char *unit,
                                  struct arena *arena)
{
    bool least = isfinite(type->least), most = isfinite(type->most) && type->most < LONG_MOST;
    const char *comma = *unit == '\0' ? "" : ",";
    unit += *unit != '\0';
    if (least && most)
        return arena_printf(arena, "%s%s from %.0f%s to %.0f%s", what, comma, type->least, unit,
                            type->most, unit);
    if (!least && !most)
        return what;
    return arena_printf(arena, "%s%s of at %s %.0f%s", what, comma, least ? "least" : "most",
                        least ? type->least : type->most, unit);
}

const char *property_type_describe(const struct property_type *type, struct arena *arena)
{
    switch (type->kind) {
    case PROPERTY_BOOLEAN:
        return "true or false";
    case PROPERTY_WHOLE:
        return describe_range(type, "a whole number", "", arena);
    case PROPERTY_NUMBER:
        return describe_number(type);
    case PROPERTY_TIME:
        return describe_range(type, "a length of time such as 30s", type->unit, arena);
    case PROPERTY_SIZE:
        return describe_range(type, "a size such as 512m", type->unit, arena);
    case PROPERTY_CORES:
        return "a number of cores such as 2 or 1500m, from 1m to 2147483647";
    }
    return NULL;
}
