internal import DeliveryRecording
internal import ThreadedNotifications

/// "Performing a block of code on a given thread": the article's network thread. Its method takes three arguments and
/// may run on that thread only; one call from any thread runs it there.
struct PerformBlockScenario: Scenario {
    let name = "perform-block"
    let summary = "the article's network thread: blocks are performed on it"

    private static let threadName = "network"
    private static let before = "on the network thread already"
    private static let after = "sent before the call returned"
    private static let delay = Duration.milliseconds(20)
    private static let delayed = "to be sent in 20 ms"
    private static let sending = "send "

    private static func answer(_ sent: Int) -> String { "\(sent) sent so far" }

    func run(in environment: ScenarioEnvironment) throws {
        let timeout = environment.timeout
        try environment.withThread(Self.threadName) { networkThread in
            let sent = Locked(0)
            /// The article's `onNetworkThreadSendFirstName:lastName:companyName:`, which only that thread may call.
            @Sendable func onNetworkThreadSend(firstName: String, lastName: String, companyName: String) {
                ScenarioRecording.logCurrentThread()
                ScenarioRecording.log("\(Self.sending)\(firstName) \(lastName), \(companyName)")
                sent.withLock { $0 += 1 }
            }
            /// The article's `sendFirstName:lastName:companyName:`, for any thread.
            @Sendable func send(firstName: String, lastName: String, companyName: String) throws {
                try networkThread.perform {
                    onNetworkThreadSend(firstName: firstName, lastName: lastName, companyName: companyName)
                }
            }

            ScenarioRecording.logCurrentThread()
            try send(firstName: "Ada", lastName: "Lovelace", companyName: "Engines")
            // This block runs after the one above has ended: the mailbox is first in, first out.
            let first = try networkThread.performAndWait(timeout: timeout) { sent.withLock { $0 } }
            ScenarioRecording.log(Self.answer(first))

            try networkThread.performAndWait(timeout: timeout) {
                ScenarioRecording.log(Self.before)
                try send(firstName: "Grace", lastName: "Hopper", companyName: "Compilers")
                ScenarioRecording.log(Self.after)
            }

            let isSent = Gate("the block that is performed after a delay")
            ScenarioRecording.log(Self.delayed)
            try networkThread.perform(after: Self.delay) {
                onNetworkThreadSend(firstName: "Alan", lastName: "Kay", companyName: "Objects")
                isSent.open()
            }
            try isSent.wait(timeout: timeout)
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let sent = run.all(beginning: Self.sending)
        let arguments = ["Ada Lovelace, Engines", "Grace Hopper, Compilers", "Alan Kay, Objects"]
        let answer = run.first(Self.answer(1))
        let (before, after) = (run.first(Self.before), run.first(Self.after))
        let during = sent.first { before?.number ?? .max < $0.number }
        let last = run.all(.deliver).last { $0.name == nil }
        let due = run.first(Self.delayed).map { $0.time + UInt64(Self.delay / .nanoseconds(1)) }
        return [
            .equal(
                "three were sent, each with its three arguments", sent.compactMap(\.message),
                arguments.map { Self.sending + $0 }),
            .each(
                "sent on the network thread only", sent, { $0.threadName == Self.threadName },
                otherwise: { "sent on \($0.place)" }),
            run.expectOrder(
                "main waits: the block's value is returned", sent.first, answer, and: answer?.isOnMain == true),
            run.expectOrder(
                "on the network thread itself: performed before the call returns", before, during, after),
            Expectation(
                "after a delay: not before it has passed",
                holds: last?.time ?? 0 >= due ?? .max,
                otherwise: "the last block was performed too early, or there was none"),
        ]
    }
}
