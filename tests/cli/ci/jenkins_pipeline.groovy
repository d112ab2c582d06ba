/*
 * Runs a Jenkinsfile with the library step provisorGate: the documented steps that these use are here, sh really runs a shell, and
 * a step or an argument that is not known is an error. Groovy's own words are Groovy's; what Jenkins adds (its sandbox, its way
 * of continuing after a restart) is not here.
 *
 *     groovy jenkins_pipeline.groovy JENKINSFILE LIBRARY_VARS WORKSPACE REPORT
 *
 * The environment is that of the build, its PATH in BUILD_PATH; CREDENTIAL_<ID> is a secret text. REPORT becomes JSON: what the build came to.
 */
import groovy.json.JsonOutput
import java.nio.file.FileSystems
import org.codehaus.groovy.control.CompilerConfiguration

class Ended extends RuntimeException {
    Ended(String message) { super(message) }
}

class Build {
    static File workspace
    static Map environment = [:]
    static Map credentials = [:]
    static List masks = []
    static String result = 'SUCCESS'
    static List console = []
    static List calls = []
    static Script gate

    static void say(String text) {
        masks.each { if (it) text = text.replace(it, '****') }
        console << text
    }

    static void worse(String other) {
        def order = ['SUCCESS', 'UNSTABLE', 'FAILURE']
        if (order.indexOf(other) > order.indexOf(result)) result = other
    }
}

/** `env`: reads what withEnv and withCredentials have set as well; what is assigned stays. */
class Env {
    def propertyMissing(String name) { Build.environment[name] }
    def propertyMissing(String name, value) { Build.environment[name] = value.toString() }
}

abstract class Steps extends Script {
    def env = new Env()

    private void only(String step, Map given, String... names) {
        def unknown = given.keySet() - (names as Set)
        if (unknown) throw new IllegalArgumentException("${step}: unknown ${unknown}")
        Build.calls << step
    }

    def sh(Map given) {
        only('sh', given, 'script', 'returnStatus', 'label')
        def file = File.createTempFile('step', '.sh')
        file.text = given.script
        def builder = new ProcessBuilder('/bin/sh', '-xe', file.path).directory(Build.workspace).redirectErrorStream(true)
        builder.environment().clear()
        Build.environment.each { name, value -> builder.environment()[name as String] = value as String }
        def process = builder.start()
        process.outputStream.close()
        def text = process.inputStream.getText('UTF-8')
        def status = process.waitFor()
        file.delete()
        Build.say(text)
        if (given.returnStatus) return status
        if (status != 0) throw new Ended("script returned exit code ${status}")
        return null
    }

    def sh(String script) { sh(script: script) }

    private def with(Map added, Closure body) {
        def before = added.keySet().collectEntries { [it, Build.environment[it]] }
        Build.environment.putAll(added)
        try {
            return body.call()
        } finally {
            before.each { name, value -> value == null ? Build.environment.remove(name) : (Build.environment[name] = value) }
        }
    }

    def withEnv(List variables, Closure body) {
        Build.calls << 'withEnv'
        with(variables.collectEntries { def at = it.indexOf('='); [it.substring(0, at), it.substring(at + 1)] }, body)
    }

    def string(Map given) {
        only('string', given, 'credentialsId', 'variable')
        return given
    }

    def withCredentials(List bindings, Closure body) {
        Build.calls << 'withCredentials'
        def added = bindings.collectEntries {
            if (!Build.credentials.containsKey(it.credentialsId)) throw new Ended("Could not find credentials entry with ID '${it.credentialsId}'")
            [it.variable, Build.credentials[it.credentialsId]]
        }
        Build.masks.addAll(added.values())
        with(added, body)
    }

    def junit(Map given) {
        only('junit', given, 'testResults', 'allowEmptyResults')
        def file = new File(Build.workspace, given.testResults)
        if (!file.file) {
            if (!given.allowEmptyResults) throw new Ended('No test report files were found')
            return
        }
        def suites = new XmlSlurper().parse(file)
        if (suites.'**'.any { it.name() == 'failure' || it.name() == 'error' }) Build.worse('UNSTABLE')
    }

    def archiveArtifacts(Map given) {
        only('archiveArtifacts', given, 'artifacts', 'allowEmptyArchive')
        def matcher = FileSystems.default.getPathMatcher('glob:' + given.artifacts)
        def files = []
        Build.workspace.eachFileRecurse { if (matcher.matches(Build.workspace.toPath().relativize(it.toPath()))) files << it }
        if (!files && !given.allowEmptyArchive) throw new Ended('No artifacts found')
        Build.calls << 'archived ' + files.collect { it.name }.sort().join(' ')
    }

    def readFile(String name) { new File(Build.workspace, name).getText('UTF-8') }

    def fileExists(String name) { new File(Build.workspace, name).exists() }

    def echo(String text) { Build.say(text) }

    def unstable(String message) {
        Build.say('WARNING: ' + message)
        Build.worse('UNSTABLE')
    }

    def error(String message) { throw new Ended(message) }

    def provisorGate(Map options) { Build.gate.call(options) }

    /* Declarative pipelines, as far as the example goes. */
    def pipeline(Closure body) { body.delegate = this; body.call() }

    def agent(any) { assert any == 'any' }

    def getAny() { 'any' }

    def stages(Closure body) { body.call() }

    def stage(String name, Closure body) { Build.say('[Pipeline] stage ' + name); body.call() }

    def steps(Closure body) { body.call() }

    def script(Closure body) { body.call() }
}

def (jenkinsfile, vars, workspace, report) = args as List
Build.workspace = new File(workspace)
System.getenv().each { name, value ->
    if (name.startsWith('CREDENTIAL_')) Build.credentials[name.substring(11).toLowerCase().replace('_', '-')] = value
    else if (!(name in ['JAVA_HOME', 'JAVA_OPTS', 'BUILD_PATH'])) Build.environment[name] = value
}
Build.environment.PATH = System.getenv('BUILD_PATH')
def configuration = new CompilerConfiguration(scriptBaseClass: Steps.name)
def loader = this.class.classLoader
Build.gate = new GroovyShell(loader, new Binding(), configuration).parse(new File(vars, 'provisorGate.groovy'))
// The annotation that loads the library is Jenkins' own.
def text = new File(jenkinsfile).text.replaceFirst(/(?m)^@Library\('provisor'\) _$/, '')
def returned = null
try {
    returned = new GroovyShell(loader, new Binding(), configuration).evaluate(text)
} catch (Ended why) {
    Build.say('ERROR: ' + why.message)
    Build.worse('FAILURE')
}
new File(report).text = JsonOutput.toJson([result: Build.result, console: Build.console.join('\n'), calls: Build.calls, returned: returned])
