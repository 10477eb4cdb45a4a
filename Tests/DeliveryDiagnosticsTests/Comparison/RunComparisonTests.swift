import DeliveryRecording
import SharedTesting
import Synchronization
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Comparing by cause and effect")
struct RunComparisonTests {
    private static let (main, a, b) = (
        RecordedScript.main, RecordedScript.thread(2, "a"), RecordedScript.thread(3, "b")
    )

    private func script(_ write: (inout RecordedScript) -> Void) -> RecordedScript {
        var script = RecordedScript()
        write(&script)
        return script
    }

    private func compare(
        _ first: RecordedScript, _ second: RecordedScript, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> RunComparison.Outcome {
        var options = RunComparison.Options()
        change(&options)
        return RunComparison(
            .recording(first.recording("A")), .recording(second.recording("B")), options: options
        ).outcome
    }

    private func differences(
        _ first: RecordedScript, _ second: RecordedScript, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> [RunDifference] {
        guard case .different(let differences) = compare(first, second, change) else { return [] }
        return differences
    }

    private func difference(_ first: RecordedScript, _ second: RecordedScript) -> RunDifference? {
        differences(first, second).first
    }

    private func areSame(
        _ first: RecordedScript, _ second: RecordedScript, _ change: (inout RunComparison.Options) -> Void = { _ in }
    ) -> Bool {
        guard case .same = compare(first, second, change) else { return false }
        return true
    }

    // MARK: Compared properties

    @Test("deliveries from two threads may interleave, deliveries from one may not change order")
    func order() {
        func run(_ order: [Int]) -> RecordedScript {
            script { script in
                for (thread, posts) in [(Self.a, [1, 2]), (Self.b, [3, 4])] {
                    for post in posts {
                        script.record(.post, on: thread, post: post)
                        script.record(.append, on: thread, post: post, observer: 1, target: Self.main)
                    }
                }
                for post in order { script.deliver(post, on: Self.main) }
            }
        }
        #expect(areSame(run([1, 2, 3, 4]), run([3, 1, 4, 2])))
        #expect(!areSame(run([1, 2, 3, 4]), run([3, 1, 4, 2])) { $0.isExact = true })
        let swapped = differences(run([1, 2, 3, 4]), run([1, 2, 4, 3]))
        #expect(swapped.map(\.reason) == [.post])
        #expect(swapped.first?.first.line == 13)
        #expect(
            swapped.first?.explanation
                == [
                    "In A #3 for observer 1 comes before #4 for observer 1, in B #3 for observer 1 after #4 for "
                        + "observer 1."
                ])
    }

    @Test("a delivery on another thread is reported with both records and their source locations")
    func otherThread() {
        func run(handledOn thread: ThreadIdentity) -> RecordedScript {
            script { script in
                script.record(.register, observer: 1, target: Self.a, place: SourceLocation("App/main.swift", 3))
                script.record(.post, post: 1, place: SourceLocation("App/main.swift", 9), count: 1)
                script.record(.append, post: 1, observer: 1, target: Self.a)
                script.deliver(1, on: thread)
            }
        }
        #expect(
            ComparisonReport(compare(run(handledOn: Self.a), run(handledOn: Self.b))).description == """
                the runs differ
                  A:4  a  deliver Name #1 for observer 1 (posted at App/main.swift:9, observer added at App/main.swift:3)
                  B:4  b  deliver Name #1 for observer 1 (posted at App/main.swift:9, observer added at App/main.swift:3)
                In B #1 for observer 1 was delivered on b.
                """)
    }

    @Test("a missing delivery is reported, whichever run it is missing in")
    func missing() {
        func run(_ delivered: [Int]) -> RecordedScript {
            script { script in
                for post in 1...3 {
                    script.record(.post, post: post)
                    script.record(.append, post: post, observer: 1, target: Self.a)
                }
                for post in delivered { script.deliver(post, on: Self.a) }
            }
        }
        for (first, second, line, otherLine, name) in [
            ([1, 2, 3], [1, 3], 9, 9, "B"), ([1, 3], [1, 2, 3], 9, 9, "A"), ([1, 2], [1], 9, nil, "B"),
            ([1], [1, 2], nil, 9, "A"),
        ] as [([Int], [Int], Int?, Int?, String)] {
            let found = differences(run(first), run(second))
            #expect(found.count == 1)
            #expect([found.first?.first.line, found.first?.second.line] == [line, otherLine])
            #expect(
                found.first?.explanation
                    == ["In \(name) #2 for observer 1 was not delivered and has no other outcome."])
        }
    }

    @Test("a different outcome is reported")
    func outcome() {
        func run(_ outcome: DeliveryStage) -> RecordedScript {
            script { script in
                script.record(.post, post: 1)
                script.record(.append, post: 1, observer: 1, target: Self.a)
                script.record(outcome, on: Self.a, post: 1, observer: 1, target: Self.a)
            }
        }
        for (outcome, words) in [
            (DeliveryStage.drop, "was dropped"), (.cancel, "was cancelled"), (.coalesce, "was coalesced"),
            (.targetGone, "lost its target thread"),
        ] {
            let difference = difference(run(.deliver), run(outcome))
            #expect(difference?.reason == .stage)
            #expect(difference?.explanation == ["In B #1 for observer 1 \(words) on a."])
        }
    }

    @Test("the number of signals and drains, times and addresses may differ")
    func mechanism() {
        let plain = script { script in
            script.post(1, from: Self.main, to: Self.a)
            script.record(.log, message: "made 0x55d0c8a7f2b0 of 0x10 by {number = 2, name = a}")
            script.record(.remove, observer: 1, count: 0)
        }
        let busy = script { script in
            script.record(.wait)
            script.record(.post, post: 4, count: 1)
            script.record(.append, post: 4, observer: 9, target: RecordedScript.thread(5, "a"))
            script.record(.signal, target: RecordedScript.thread(5, "a"))
            script.record(.drain, on: RecordedScript.thread(5, "a"))
            script.record(.drain, on: RecordedScript.thread(5, "a"))
            script.deliver(4, observer: 9, on: RecordedScript.thread(5, "a"))
            script.record(.waitEnd)
            script.record(.log, message: "made 0x7f00aa5400c0 of 0x10 by {number = 5, name = a}")
            script.record(.remove, observer: 9, count: 1)
            script.record(.threadEnd, on: RecordedScript.thread(5, "a"))
            script.record(.end, reason: .exit)
        }
        #expect(areSame(plain, busy))
        #expect(!areSame(plain, busy) { $0.isExact = true })
    }

    @Test("messages, names, numbers of observers, sender types and targets are compared")
    func properties() {
        for (one, other, reason) in [
            ("status 0x10", "status 0x11", RunDifference.Reason.message),
            ("{number = 2, name = a}", "{number = 2, name = c}", .mention),
            ("{number = 1, name = main}", "{number = 2, name = a}", .mention),
        ] {
            let runs = [one, other].map { message in script { $0.record(.log, message: message) } }
            #expect(difference(runs[0], runs[1])?.reason == reason)
        }
        func post(_ count: Int, _ sender: UInt64, _ type: String) -> RecordedScript {
            script { $0.record(.post, post: 1, count: count, sender: .init(identifier: sender, type: type)) }
        }
        #expect(areSame(post(2, 1, "Window"), post(2, 2, "Window")))
        #expect(difference(post(2, 1, "Window"), post(3, 1, "Window"))?.reason == .count)
        #expect(difference(post(2, 1, "Window"), post(2, 1, "Panel"))?.reason == .sender)
        let targets = [Self.a, Self.b].map { target in
            script {
                $0.record(.post, post: 1)
                $0.record(.append, post: 1, observer: 1, target: target)
            }
        }
        #expect(difference(targets[0], targets[1])?.reason == .target)
        let reasons = [DeliveryRecord.Reason.notStarted, nil].map { reason in
            script { $0.record(.targetGone, post: 1, reason: reason) }
        }
        #expect(difference(reasons[0], reasons[1])?.reason == .details)
    }

    @Test("records that differ are described so that they do not read the same")
    func descriptions() {
        func texts(_ first: RecordedScript, _ second: RecordedScript) -> [String?] {
            let difference = difference(first, second)
            return [difference?.first.text, difference?.second.text]
        }
        func register(_ target: ThreadIdentity?, _ type: String?, _ stage: DeliveryStage = .register) -> RecordedScript
        {
            let sender = type.map { DeliveryRecord.Sender(identifier: 1, type: $0) }
            return script { $0.record(stage, observer: 2, target: target, sender: sender) }
        }
        #expect(
            texts(register(nil, nil), register(nil, "Station"))
                == ["register Name observer 2 from any sender", "register Name observer 2 from Station"])
        #expect(
            texts(register(nil, nil, .append), register(nil, "", .append))
                == [
                    "append Name for observer 2 from no sender",
                    "append Name for observer 2 from a sender of unknown type",
                ])
        #expect(
            texts(register(Self.main, nil), register(nil, nil))
                == [
                    "register Name observer 2 to be handled on main",
                    "register Name observer 2 to be handled on the posting thread",
                ])
        // Threads with one name are shown with their numbers.
        let workers = [2, 3].map { target in
            script { script in
                for number in 2...3 {
                    script.record(.log, on: RecordedScript.thread(number, "w"), message: "\(number)")
                }
                script.record(.register, observer: 1, target: RecordedScript.thread(target, "w"))
            }
        }
        #expect(
            texts(workers[0], workers[1])
                == [
                    "register Name observer 1 to be handled on w (thread 2)",
                    "register Name observer 1 to be handled on w (thread 3)",
                ])
        // If the numbers of observers read the same, their counterparts are named.
        let orders = [[2, 1], [1, 2]].map { registered in
            script { script in
                for observer in registered { script.record(.register, observer: observer) }
                script.record(.append, post: 1, observer: 2)
            }
        }
        #expect(
            difference(orders[0], orders[1])?.explanation
                == ["They are of different observers.", "observer 2 in A corresponds to observer 1 in B."])
    }

    @Test("runs that ended in different ways are different")
    func ends() {
        func run(_ end: DeliveryRecord.Reason) -> RecordedScript { script { $0.record(.end, reason: end) } }
        #expect(areSame(run(.exit), run(.stopped)))
        #expect(difference(run(.exit), run(.signal(11)))?.reason == .end)
        #expect(difference(run(.signal(6)), run(.signal(11)))?.reason == .end)
    }

    // MARK: Several differences

    @Test("differences are found one after the other, without their consequences, up to a number")
    func several() throws {
        func run(_ says: String, delivers: [Int], last: String) -> RecordedScript {
            script { script in
                script.record(.log, message: says)
                for post in 1...4 {
                    script.record(.post, post: post)
                    script.record(.append, post: post, observer: 1, target: Self.a)
                }
                for post in delivers {
                    script.record(.deliver, on: Self.a, post: post, observer: 1)
                    script.record(.append, on: Self.a, post: post + 10, target: Self.b)
                    script.record(.return, on: Self.a, post: post, observer: 1)
                }
                for post in delivers { script.deliver(post + 10, observer: nil, on: Self.b) }
                script.record(.log, on: Self.b, message: last)
            }
        }
        let (one, other) = (
            run("1", delivers: [1, 2, 3, 4], last: "x"), run("2", delivers: [1, 4], last: "y")
        )
        // The blocks that the missing handlers would have performed are not reported.
        let found = differences(one, other)
        #expect(found.map(\.first.line) == [1, 13, 16, 30])
        #expect(found.map(\.reason) == [.message, .post, .post, .message])
        #expect(differences(one, other) { $0.maximumDifferences = 2 }.map(\.first.line) == [1, 13])
        let report = ComparisonReport(.different(Array(found.prefix(2))), maximumDifferences: 2)
        #expect(report.description.split(separator: "\n\n").count == 3)
        #expect(report.description.hasSuffix("There may be more differences. See --differences."))
        #expect(try JSONText.of(report).contains(#""further":[{"#))
    }

    @Test("after a record that only one run has, the rest is compared")
    func resynchronisation() {
        func run(_ messages: String...) -> RecordedScript {
            script { script in for message in messages { script.record(.log, message: message) } }
        }
        let one = run("a", "b", "c", "d", "e")
        #expect(differences(one, run("a", "x", "y", "b", "c", "d", "z")).map(\.second.line) == [2, 7])
        #expect(differences(run("a", "x", "b"), run("a", "b")).map(\.first.line) == [2])
        #expect(differences(one, run("a", "b", "x", "d", "e")).map(\.first.line) == [3])
    }

    @Test("ignored notifications are not compared, nor what their handlers do")
    func ignored() {
        func run(_ ticks: Int) -> RecordedScript {
            script { script in
                for tick in 0..<ticks {
                    script.name = "Tick"
                    script.record(.post, post: 10 + tick)
                    script.record(.append, post: 10 + tick, observer: 2, target: Self.a)
                    script.record(.deliver, on: Self.a, post: 10 + tick, observer: 2)
                    script.record(.log, on: Self.a, message: "tick \(tick)")
                    script.record(.return, on: Self.a, post: 10 + tick, observer: 2)
                }
                script.name = "Name"
                script.post(1, from: Self.main, to: Self.a)
            }
        }
        #expect(!areSame(run(2), run(3)))
        #expect(areSame(run(2), run(3)) { $0.ignored = ["Tick"] })
    }

    // MARK: Threads

    @Test("a thread with a name that the other run lacks is a difference")
    func names() {
        let runs = ["worker", "helper"].map { name in
            script { $0.record(.log, on: RecordedScript.thread(2, name), message: "hello") }
        }
        #expect(difference(runs[0], runs[1])?.explanation == ["B has no thread with this name."])
    }

    /// Threads without names that log a message each and then perform a block on another thread each.
    private func rings(_ next: [Int], order: [Int]) -> RecordedScript {
        script { script in
            for index in order { script.record(.log, on: RecordedScript.thread(index + 2), message: "hello") }
            for (post, index) in order.enumerated() {
                script.record(
                    .append, on: RecordedScript.thread(index + 2), post: post + 1,
                    target: RecordedScript.thread(next[index] + 2))
            }
        }
    }

    @Test("threads without names are distinguished by the threads they hand notifications to")
    func pairs() {
        let next = (0..<24).map { $0 ^ 1 }
        var generator = SeededGenerator(seed: 3)
        let outcome = compare(
            rings(next, order: Array(0..<24)), rings(next, order: (0..<24).shuffled(using: &generator)))
        guard case .same(_, 24, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        // A ring of six threads and two rings of three, in which all threads look alike.
        let one = rings([1, 2, 3, 4, 5, 0], order: [0, 1, 2, 3, 4, 5])
        let two = rings([1, 2, 0, 4, 5, 3], order: [0, 1, 2, 3, 4, 5])
        #expect(difference(one, two)?.reason == .target)
        #expect(areSame(one, rings([1, 2, 3, 4, 5, 0], order: [3, 1, 5, 0, 2, 4])))
        #expect(areSame(two, rings([1, 2, 0, 4, 5, 3], order: [3, 1, 5, 0, 2, 4])))
    }

    @Test("a comparison that takes too long is undecided, not guessed")
    func undecided() {
        let one = rings([1, 2, 3, 4, 5, 0], order: [0, 1, 2, 3, 4, 5])
        let two = rings([1, 2, 0, 4, 5, 3], order: [0, 1, 2, 3, 4, 5])
        let asked = Mutex(0)
        for (budget, expected) in [
            (RunComparison.Budget(tries: 1, isOver: { false }), 1), (.init(tries: 1000, isOver: { true }), 1),
            (
                .init(tries: 1000) {
                    asked.withLock { count in
                        count += 1
                        return count > 2
                    }
                }, 3
            ),
        ] {
            let outcome = compare(one, two) { $0.budget = budget }
            guard case .undecided(let tries, _) = outcome else {
                Issue.record("decided: \(outcome)")
                continue
            }
            #expect(tries <= expected)
            #expect(ComparisonReport(outcome).description.contains("after \(tries) "))
        }
        #expect(asked.withLock { $0 } == 3)
    }

    @Test("runs that are known to differ are never undecided")
    func certain() {
        let runs = ["x", "y"].map { fifth in
            script { script in
                for n in 2..<9 { script.record(.log, on: RecordedScript.thread(n), message: n == 5 ? fifth : "x") }
            }
        }
        let outcome = compare(runs[0], runs[1]) { $0.budget = .init(tries: 1) { true } }
        guard case .different(let differences) = outcome else {
            Issue.record("not different: \(outcome)")
            return
        }
        #expect([.message, .onlyInFirst].contains(differences[0].reason))
    }

    @Test("the threads of a process correspond to threads of one process")
    func processes() {
        func run(_ messages: [(Int32, String)]) -> RecordedScript {
            script { script in
                for (process, message) in messages {
                    script.process = ProcessIdentity(id: process, name: "p")
                    script.record(.log, message: message)
                    script.record(.log, on: Self.a, message: message)
                }
            }
        }
        #expect(areSame(run([(7, "x"), (8, "y")]), run([(3, "y"), (4, "x")])))
        #expect(!areSame(run([(7, "x"), (8, "y")]), run([(3, "x"), (3, "y")])))
    }

    @Test("an empty recording equals only an empty one")
    func empty() {
        let some = script { $0.record(.log, message: "x") }
        for isExact in [false, true] {
            #expect(areSame(RecordedScript(), RecordedScript()) { $0.isExact = isExact })
            #expect(differences(some, RecordedScript()) { $0.isExact = isExact }.map(\.reason) == [.onlyInFirst])
            #expect(differences(RecordedScript(), some) { $0.isExact = isExact }.map(\.reason) == [.onlyInSecond])
        }
    }
}
