internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// An actor that runs on a run loop thread: notifications and awaited methods run there, in order.
struct PinnedActorScenario: Scenario {
    let name = "pinned-actor"
    let summary = "an actor on a thread: notifications are delivered to it"

    private static let threadName = "account"
    private static let amounts = [100, -30, 5]

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let center = ThreadedNotificationCenter()
        try environment.withThread(Self.threadName) { thread in
            let account = Account(livesOn: thread, recorder: recorder)

            let token = center.addObserver(
                forName: .test, isolatedTo: account, transform: { $0.object as? Int },
                using: { account, amount in account.add(amount) })
            // The thread waits until everything is posted, so that each run of the scenario is the same.
            let arePosted = Gate("the posts")
            try thread.perform { try? arePosted.wait(timeout: environment.timeout) }
            recorder.logCurrentThread()
            for amount in Self.amounts { center.post(name: .test, object: amount) }
            arePosted.open()

            // The actor's jobs wait in the same queue as its notifications, so its answer comes after them.
            let isAnswered = Gate("the actor's answer")
            let answer = Locked<Int?>(nil)
            Task.detached {
                let balance = await account.balance()
                answer.withLock { $0 = balance }
                isAnswered.open()
            }
            try isAnswered.wait(timeout: environment.timeout)
            recorder.log(Self.message(answer.withLock { $0 ?? 0 }))

            recorder.finish([token])
        }
    }

    fileprivate static let asked = "asked for the balance"

    private static func message(_ balance: Int) -> String { "the balance is \(balance)" }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let asked = run.first(Self.asked)
        return [
            run.expectEachDelivered("posted on main, handled on the actor's thread") {
                $0.posted.thread.number == 1 && $0.delivered.thread.name == Self.threadName
                    && $0.delivered.thread == $0.registered?.target
            },
            run.expectOrderKept("handled in the order posted"),
            run.expectOrder(
                "an awaited method runs on that thread too", asked,
                and: asked?.thread == run.first(.register)?.target),
            run.expectOrder(
                "the answer includes everything posted before", asked,
                run.first(Self.message(Self.amounts.reduce(0, +)))),
        ]
    }
}

private actor Account {
    nonisolated let thread: RunLoopThread
    private let recorder: DeliveryRecorder
    private var sum = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(livesOn thread: RunLoopThread, recorder: DeliveryRecorder) {
        self.thread = thread
        self.recorder = recorder
    }

    func add(_ amount: Int) {
        sum += amount
        recorder.logCurrentThread()
        recorder.log("add \(amount)")
    }

    func balance() -> Int {
        recorder.logCurrentThread()
        recorder.log(PinnedActorScenario.asked)
        return sum
    }
}
