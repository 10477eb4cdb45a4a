internal import ChildProcesses
internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Glibc
internal import TerminalText
internal import ThreadedNotifications

/// Listing 4: the observer is released while its handler runs on another thread. Each way of holding it runs in a
/// process of its own, because some of them crash.
struct ObserverLifetimeScenario: Scenario {
    let name = "observer-lifetime"
    let summary = "listing 4: the observer is released in its handler"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        for capture in environment.options.capture.map({ [$0] }) ?? ObserverCapture.allCases {
            let path = ScenarioRecording.path(ofProcess: capture.rawValue)
            defer { unlink(path) }
            let result = try environment.program.run(
                [LifetimeProgram.subcommand, capture.rawValue, path], timeout: environment.timeout)
            if result.end == .timedOut {
                throw ScenarioError.timedOut(waitingFor: "a second process", after: environment.timeout)
            }
            try ScenarioRecording.add(path, ofProcess: result.processID, end: result.end)
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let processes = LifetimeProcess.all(in: run)
        let crashes = processes.filter { $0.capture == .unsafe }
        return (options.capture.map { [$0] } ?? ObserverCapture.allCases).map { capture in
            .equal(
                "\(capture.rawValue): \(capture.expected.claim)",
                processes.first { $0.capture == capture }?.cells ?? [], capture.expected.cells)
        } + crashes.map { .matches(.listing4, $0.records, prefix: "unsafe: ") }
    }

    func report(on run: RecordedRun) -> String? {
        let processes = LifetimeProcess.all(in: run)
        guard processes.count > 1 else { return nil }
        let heading = ["capture", "handler ended", "observer released", "process ended"]
        return Table.text([heading] + processes.map { [$0.capture.rawValue] + $0.cells })
    }
}

private struct LifetimeProcess {
    var capture: ObserverCapture
    var records: [RecordedRun.Record]

    static func all(in run: RecordedRun) -> [LifetimeProcess] {
        run.all(.processStart).compactMap { start in
            start.message.flatMap(ObserverCapture.init).map { capture in
                LifetimeProcess(
                    capture: capture,
                    records: run.all { run.recording.process(of: $0) == run.recording.process(of: start.entry) })
            }
        }
    }

    /// Where the handler ended, when and where the observer was released, and how the process ended.
    var cells: [String] {
        func place(_ record: RecordedRun.Record) -> String { record.isOnMain ? "on main" : "in background" }
        let handled = records.first { $0.message == LifetimeProgram.endMessage }
        let released = records.first { $0.message == LifetimeProgram.releaseMessage }
        let release = released.map { released in
            let isEarly = released.number < handled?.number ?? .max
            return "\(isEarly ? "before" : "after") the end, \(place(released))"
        }
        let end = records.first { $0.stage == .processEnd }.map {
            $0.reason == .exit ? "exit \(max(0, $0.count))" : $0.reason?.description ?? ""
        }
        return [handled.map(place) ?? "never", release ?? "never", end ?? "not ended"]
    }
}

extension ObserverCapture {
    /// What its process demonstrates, and the cells of it.
    fileprivate var expected: (claim: String, cells: [String]) {
        let (early, late) = ("before the end, on main", ["in background", "after the end, in background", "exit 0"])
        return switch self {
        case .unsafe: ("released during its handler, crashes with signal 11", ["in background", early, "signal 11"])
        case .unowned: ("released during its handler, ends with signal 6", ["in background", early, "signal 6"])
        case .weak: ("released after its handler", late)
        case .stable: ("never released", ["in background", "never", "exit 0"])
        case .delegation: ("released after the delegate's method", late)
        case .oneThread: ("handled, then released, on main", ["on main", "after the end, on main", "exit 0"])
        }
    }
}
