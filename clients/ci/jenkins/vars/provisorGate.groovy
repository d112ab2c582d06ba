/**
 * A gate before a Spark job: the build ends where its deadline is predicted to be missed, its cost would rise too much, or
 * its history is too poor to tell.
 *
 *     def gate = provisorGate(url: 'https://provisor.example', application: 'nightly-etl', size: '64', deadline: '90s')
 *
 * credentialsId     a secret text, the token (provisor-token). The build of a change from a fork does not get it, and is not
 *                   gated.
 * unstableStatuses  exit statuses that make the build unstable and let it go on ([], none)
 * program           the script of clients/ci/shell (provisor-gate); provisor, which it calls, is on the PATH too
 * The others are the variables PROVISOR_GATE_... of that script: application, size, deadline, confidence, maxCostRise, ...
 *
 * Answers with a map: gate (passed, failed, warned, skipped, error), exitStatus, and what the advice holds (adviceId, verdict,
 * executors, coresPerExecutor, predictedDurationS, deadlineProbability, cost, costChangePercent), as text.
 */
def call(Map options = [:]) {
    def own = [credentialsId: 'provisor-token', unstableStatuses: [], program: 'provisor-gate', url: null]
    def directory = options.directory ?: 'provisor-gate'
    def variables = ['PROVISOR_GATE_NAMES=camelCase', 'PROVISOR_GATE_DIRECTORY=' + directory]
    for (name in options.keySet()) {
        if (own.containsKey(name)) {
            own[name] = options[name]
        } else if (forwarded().contains(name)) {
            variables << variable(name) + '=' + text(options[name])
        } else {
            error("provisorGate has no option ${name}; there are ${(own.keySet() + forwarded()).join(', ')}")
        }
    }
    if (own.url) {
        variables << 'PROVISOR_URL=' + own.url
    }
    variables << 'PROVISOR_GATE_SCRIPT=' + own.program

    int status = 0
    withEnv(variables) {
        if (env.CHANGE_FORK) {
            status = ask()
        } else {
            withCredentials([string(credentialsId: own.credentialsId, variable: 'PROVISOR_TOKEN')]) {
                status = ask()
            }
        }
    }
    junit(testResults: directory + '/gate.xml', allowEmptyResults: true)
    archiveArtifacts(artifacts: directory + '/gate.*', allowEmptyArchive: true)
    def result = read(directory + '/gate.env')
    result.exitStatus = status
    if (result.tokenExpiresAt) {
        echo("provisor: WARNING: the token ends at ${result.tokenExpiresAt}. Renew it before then.")
    }
    if (status != 0) {
        def message = "provisor: gate ${result.gate}, exit status ${status}"
        if (own.unstableStatuses.contains(status)) {
            unstable(message)
        } else {
            error(message)
        }
    } else if (result.gate == 'warned' || result.gate == 'skipped' && !env.CHANGE_FORK) {
        unstable("provisor: gate ${result.gate}")
    }
    return result
}

/** The options that are variables of the script. */
private List forwarded() {
    return ['application', 'size', 'deadline', 'confidence', 'tolerance', 'maxExecutors', 'cluster', 'maxCostRise', 'maxError',
            'noDeadline', 'onMissed', 'onAtRisk', 'onUnknown', 'onUnavailable', 'onTokenRefused', 'labels', 'apply', 'allow', 'warnOnly',
            'dryRun', 'requestFile', 'arguments', 'directory', 'idempotencyKey']
}

/** maxCostRise is PROVISOR_GATE_MAX_COST_RISE. */
private String variable(String name) {
    return 'PROVISOR_GATE_' + name.replaceAll('([A-Z])', '_$1').toUpperCase()
}

/** A list is a line an item. */
private String text(value) {
    return value instanceof List ? value.join('\n') : String.valueOf(value == null ? '' : value)
}

private int ask() {
    return sh(script: '"$PROVISOR_GATE_SCRIPT"', returnStatus: true, label: 'provisor gate')
}

/** PROVISOR_ADVICE_ID is adviceId. */
private Map read(String file) {
    def result = [gate: 'error']
    if (!fileExists(file)) {
        return result
    }
    for (line in readFile(file).split('\n')) {
        def at = line.indexOf('=')
        if (at > 0) {
            def words = line.substring(0, at).toLowerCase().split('_')
            def name = words[1]
            for (int i = 2; i < words.length; i++) {
                name += words[i].capitalize()
            }
            result[name] = line.substring(at + 1)
        }
    }
    return result
}
