internal import ChildProcesses
internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Listing 4: the observer is released while its handler runs on another thread. Each way of holding it runs in a
/// process of its own, because some of them crash.
struct ObserverLifetimeScenario: Scenario {
    let name = "observer-lifetime"
    let summary = "listing 4: the observer is released in its handler"
    let options: Set<ScenarioOptions.Name> = [.capture]
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        guard let program = environment.program else { throw ScenarioError.noProgram }
        for capture in environment.options.capture.map({ [$0] }) ?? ObserverCapture.allCases {
            let result = try program.run([LifetimeProgram.subcommand, capture.rawValue], timeout: environment.timeout)
            if result.end == .timedOut {
                throw ScenarioError.timedOut(waitingFor: "a second process", after: environment.timeout)
            }
            try environment.recorder.merge(
                result.output, ofProcess: result.processID, end: result.end, message: result.firstError)
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let processes = LifetimeProcess.all(in: run)
        let crashes = processes.filter { $0.capture == .unsafe }
        return (options.capture.map { [$0] } ?? ObserverCapture.allCases).map { capture in
            processes.first { $0.capture == capture }?.expectation
                ?? Expectation(capture.claim, failure: "it did not run")
        } + crashes.map { .matches(.listing4, $0.run.records, prefix: "unsafe: ") }
    }

    func report(on run: RecordedRun) -> String? {
        let processes = LifetimeProcess.all(in: run)
        guard processes.count > 1 else { return nil }
        let rows = processes.map { [$0.capture.rawValue, $0.handlerEnd, $0.release, $0.end] }
        let messages = processes.compactMap { process in
            process.errorMessage.map { "\(process.capture.rawValue): \($0)" }
        }
        let heading = ["capture", "handler ended", "observer released", "process ended"]
        return ([Table.text([heading] + rows)] + messages).joined(separator: "\n")
    }
}

private struct LifetimeProcess {
    var capture: ObserverCapture
    var run: RecordedRun

    static func all(in run: RecordedRun) -> [LifetimeProcess] {
        run.all(.processStart).compactMap { start in
            start.message.flatMap(ObserverCapture.init).map { capture in
                let records = run.records.filter { $0.process.id == start.process.id }
                return LifetimeProcess(capture: capture, run: RecordedRun(records))
            }
        }
    }

    private var handlerBegan: DeliveryRecord? { run.first(LifetimeProgram.beginMessage) }
    private var handlerEnded: DeliveryRecord? { run.first(LifetimeProgram.endMessage) }
    private var released: DeliveryRecord? { run.first(LifetimeProgram.releaseMessage) }
    private var ended: DeliveryRecord? { run.first(.processEnd) }

    var end: String {
        guard let ended, let reason = ended.reason else { return "not ended" }
        return reason == .exit ? "exit \(ended.count ?? 0)" : reason.description
    }

    var errorMessage: String? { ended?.message }

    var handlerEnd: String { handlerEnded.map { Self.description($0.thread) } ?? "never" }

    var release: String {
        guard let released else { return "never" }
        guard let handlerEnded else { return Self.description(released.thread) }
        let time = released.sequence < handlerEnded.sequence ? "before the end" : "after the end"
        return "\(time), \(Self.description(released.thread))"
    }

    private static func description(_ thread: ThreadIdentity) -> String {
        thread.number == 1 ? "on main" : "in background"
    }

    var expectation: Expectation {
        let expectedEnd = capture == .unsafe ? "signal 11" : capture == .unowned ? "signal 6" : "exit 0"
        if end != expectedEnd {
            return Expectation(capture.claim, failure: "the process ended with \(end) instead of \(expectedEnd)")
        }
        return switch capture {
        case .unsafe: run.expectOrder(capture.claim, handlerBegan, released, handlerEnded)
        case .unowned:
            run.expectOrder(
                capture.claim, handlerBegan, released, handlerEnded, ended,
                and: errorMessage?.contains("unowned reference") == true)
        case .weak, .delegation: run.expectOrder(capture.claim, handlerBegan, handlerEnded, released)
        case .stable: run.expectOrder(capture.claim, handlerBegan, handlerEnded, and: released == nil)
        case .oneThread:
            run.expectOrder(
                capture.claim, handlerBegan, handlerEnded, released,
                and: handlerEnded?.thread.number == 1 && released?.thread == handlerEnded?.thread)
        }
    }
}

extension ObserverCapture {
    fileprivate var claim: String {
        let claim =
            switch self {
            case .unsafe: "released during its handler, crashes with signal 11"
            case .unowned: "released during its handler, ends with signal 6"
            case .weak: "released after its handler"
            case .stable: "never released"
            case .delegation: "released after the delegate's method"
            case .oneThread: "handled, then released, on main"
            }
        return "\(rawValue): \(claim)"
    }
}

extension ChildProgram.Result {
    /// The first line of standard error, if the process failed.
    fileprivate var firstError: String? {
        if case .exit(0) = end { return nil }
        return errors.split(separator: "\n").first.map { line in
            line.firstRange(of: "Fatal error: ").map { String(line[$0.upperBound...]) } ?? String(line)
        }
    }
}
