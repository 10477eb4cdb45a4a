internal import ChildProcesses
internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// "Distributed notifications": every process that observes handles a post on its main thread, also the poster.
struct DistributedScenario: Scenario {
    let name = "distributed"
    let summary = "a process posts, others handle it on their main threads"

    private static let byThis = ["4", "5"]
    private static let entering = "entering the run loop"

    func run(in environment: ScenarioEnvironment) throws {
        let timeout = environment.timeout
        // In `/tmp`, and not in `TMPDIR`, because a socket's path has at most 107 bytes. The server that is started
        // there ends when the directory is removed.
        let directory = ServerDirectory(path: "/tmp/notify-demo-\(getpid())-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: directory.path) }
        let center = try DistributedCenter(directory: directory)
        defer { center.close() }
        ScenarioRecording.logCurrentThread()
        // The server's directory exists from now on.
        let token = try center.observe(timeout: timeout)
        // It is killed if this method throws.
        let path = directory.path + "/recording.jsonl"
        let child = try environment.program.start(
            [DistributedProgram.subcommand, directory.path, path], input: .piped, output: .piped)
        func ask(to step: String) throws {
            try child.write(line: step, timeout: timeout)
            guard try child.readLine(timeout: timeout) == DistributedProgram.done else {
                throw ChildProcessError.hasEnded
            }
        }

        try ask(to: "observe")
        try ask(to: "post")
        ScenarioRecording.log(Self.entering)
        try center.handleAll(timeout: timeout)
        try ask(to: "handle")

        try center.post(Self.byThis, timeout: timeout)
        try center.handleAll(timeout: timeout)
        try ask(to: "handle")
        token.cancel()

        child.closeInput()
        try ScenarioRecording.add(path, ofProcess: child.id, end: child.wait(timeout: timeout))
        ScenarioRecording.log("the second process has ended")
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        // Posts to other processes have no number.
        let posts = run.all(.post).filter { $0.post < 0 }
        let handled = run.all(beginning: "handled ")
        let processes = Set(posts.map(\.process)).map { process in handled.filter { $0.process == process } }
        let elsewhere = run.all(.deliver, Notification.Name.test.rawValue).first { !$0.isOnMain }
        let expected = zip(DistributedProgram.labels + Self.byThis, posts).map { label, post in
            "handled \(label) of process \(post.process.id): \(post.message ?? "")"
        }
        let early = posts.filter { $0.process == posts.first?.process }
        return [
            Expectation(
                "handled in both processes, each on its main thread",
                holds: processes.count == 2 && processes.allSatisfy { !$0.isEmpty } && elsewhere == nil
                    && handled.allSatisfy(\.isOnMain),
                otherwise: elsewhere.map { "delivered on \($0.place)" } ?? "not handled, or a process is missing"),
            .equal(
                "both handle each post once, in the order posted, with its sender and userInfo",
                processes.map { $0.compactMap(\.message) }, [expected, expected]),
            run.expectOrder(
                "posting did not wait for the observers", early.latest, run.first(Self.entering),
                handled.earliest, and: early.count == DistributedProgram.labels.count),
        ]
    }
}
