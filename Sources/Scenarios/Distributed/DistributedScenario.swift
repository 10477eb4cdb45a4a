internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// "Distributed notifications": every process that observes handles a post on its main thread, also the poster.
struct DistributedScenario: Scenario {
    let name = "distributed"
    let summary = "a process posts, others handle it on their main threads"
    let isTraced = false

    private static let byChild: [DistributedPost] = ["1", "2", "3"]
    private static let byThis: [DistributedPost] = ["4", "5"]
    private static let entering = "entering the run loop"

    func run(in environment: ScenarioEnvironment) throws {
        try TwoProcesses.perform(in: environment) { two in
            let recorder = two.recorder
            let token = try two.center.addObserver(forName: .test) { recorder.log(DistributedProgram.handled($0)) }
            recorder.log("observes")
            try two.center.synchronize(timeout: two.timeout)
            try two.ask(.observe)

            try two.ask(.post(Self.byChild))
            recorder.log(Self.entering)
            try two.handleAll()
            try two.ask(.handle)

            try two.center.post(Self.byThis, recording: recorder)
            try two.handleAll()
            try two.ask(.handle)
            token.cancel()
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        // Posts to other processes have no number.
        let posts = run.all(.post).filter { $0.post == nil }
        let handled = run.records.filter { $0.message?.hasPrefix("handled ") == true }
        let processes = Set(posts.map(\.process)).map { process in handled.filter { $0.process == process } }
        let elsewhere = run.all(.deliver, Notification.Name.test.rawValue).first { $0.thread.number != 1 }
        let labels = (Self.byChild + Self.byThis).map(\.label)
        let expected = zip(labels, posts).map { label, post in
            "handled \(label) of process \(post.process.id): \(post.message ?? "")"
        }
        let early = posts.filter { $0.process == posts.first?.process }
        return [
            Expectation(
                "handled in both processes, each on its main thread",
                holds: processes.count == 2 && processes.allSatisfy { !$0.isEmpty } && elsewhere == nil
                    && handled.allSatisfy { $0.thread.number == 1 },
                otherwise: elsewhere.map { "delivered on \($0.thread)" } ?? "not handled, or a process is missing"),
            .equal(
                "both handle each post once, in the order posted, with its sender and userInfo",
                processes.map { $0.compactMap(\.message) }, [expected, expected]),
            run.expectOrder(
                "posting did not wait for the observers", early.latest, run.first(Self.entering),
                handled.earliest, and: early.count == Self.byChild.count),
            run.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
