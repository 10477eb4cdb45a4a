internal import ChildProcesses
internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
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
            let result = try ScenarioError.ofChild { () throws(ChildProcessError) in
                try program.run([LifetimeProgram.subcommand, capture.rawValue], timeout: environment.timeout)
            }
            if result.end == .timedOut {
                throw ScenarioError.timedOut(waitingFor: "a second process", after: environment.timeout)
            }
            try environment.recorder.merge(
                result.output, ofProcess: result.processID, end: result.end, message: result.firstError)
        }
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let runs = Run.runs(in: records)
        let asked = options.capture.map { [$0] } ?? ObserverCapture.allCases
        let crashes = runs.filter { $0.capture == .unsafe }.map { run in
            var crash = Expectation.matches(.listing4, run.records)
            crash.claim = "unsafe: " + crash.claim
            return crash
        }
        return asked.map { capture in
            let run = runs.first { $0.capture == capture }
            return Expectation(
                "\(capture.rawValue): \(capture.claim)", failure: run.map(\.failure) ?? "it did not run")
        } + crashes
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let runs = Run.runs(in: records)
        guard runs.count > 1 else { return nil }
        let rows =
            [["capture", "handler ended", "observer released", "process ended"]]
            + runs.map { [$0.capture.rawValue, $0.handlerEnd, $0.release, $0.end] }
        let messages = runs.compactMap { run in run.errorMessage.map { "\(run.capture.rawValue): \($0)" } }
        return ([Table.text(rows)] + messages).joined(separator: "\n")
    }

    /// The records of one capture's process.
    private struct Run {
        var capture: ObserverCapture
        var records: [DeliveryRecord]

        static func runs(in records: [DeliveryRecord]) -> [Run] {
            records.filter { $0.stage == .processStart }.compactMap { start in
                start.message.flatMap(ObserverCapture.init).map { capture in
                    Run(capture: capture, records: records.filter { $0.process.id == start.process.id })
                }
            }
        }

        /// How the process ended: "exit 0" or "signal 6".
        var end: String {
            guard let record = endRecord, let reason = record.reason else { return "not ended" }
            return reason == .exit ? "exit \(record.count ?? 0)" : reason.description
        }

        /// The first line of the process's standard error, if any.
        var errorMessage: String? { endRecord?.message }

        private var endRecord: DeliveryRecord? { records.last { $0.stage == .processEnd } }

        private func logged(_ message: String) -> DeliveryRecord? {
            records.first { $0.stage == .log && $0.message == message }
        }

        var handlerEnd: String {
            guard let end = logged(LifetimeStory.endMessage) else { return "never" }
            return Self.description(end.thread)
        }

        var release: String {
            guard let release = logged(LifetimeStory.releaseMessage) else { return "never" }
            guard let end = logged(LifetimeStory.endMessage) else { return Self.description(release.thread) }
            let time = release.sequence < end.sequence ? "before the end" : "after the end"
            return "\(time), \(Self.description(release.thread))"
        }

        private static func description(_ thread: ThreadIdentity) -> String {
            thread.number == 1 ? "on main" : "in background"
        }

        /// Nil if the capture behaves as its claim says.
        var failure: String? {
            let expectedEnd = capture.expectedSignal.map { "signal \($0)" } ?? "exit 0"
            if end != expectedEnd { return "the process ended with \(end) instead of \(expectedEnd)" }
            if capture == .unowned, errorMessage?.contains("unowned reference") != true {
                return "the process ended without reporting that the observer was released"
            }
            guard let begin = logged(LifetimeStory.beginMessage), let end = logged(LifetimeStory.endMessage)
            else { return "the handler did not run to its end" }
            let release = logged(LifetimeStory.releaseMessage)
            let isAsClaimed =
                switch (capture, release) {
                case (.stable, _): release == nil
                case (_, nil): false
                case (.unsafe, let release?), (.unowned, let release?):
                    begin.sequence < release.sequence && release.sequence < end.sequence
                case (.weak, let release?), (.delegation, let release?): end.sequence < release.sequence
                case (.oneThread, let release?):
                    end.sequence < release.sequence && end.thread.number == 1 && release.thread == end.thread
                }
            return isAsClaimed ? nil : "the observer was released: \(self.release)"
        }
    }
}

extension ObserverCapture {
    fileprivate var claim: String {
        switch self {
        case .unsafe: "released during its handler, crashes with signal 11"
        case .unowned: "released during its handler, ends with signal 6"
        case .weak: "released after its handler"
        case .stable: "never released"
        case .delegation: "released after the delegate's method"
        case .oneThread: "handled, then released, on main"
        }
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
