import DeliveryRecording
import SharedTesting
import Synchronization
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Comparing by cause and effect")
struct CausalComparisonTests {
    private static let (main, a, b) = (
        RecordedScript.main, RecordedScript.thread(2, "a"), RecordedScript.thread(3, "b")
    )

    private func script(_ write: (inout RecordedScript) -> Void) -> RecordedScript {
        var script = RecordedScript()
        write(&script)
        return script
    }

    private func compare(
        _ first: RecordedScript, _ second: RecordedScript, order: CausalComparison.Order = .causal,
        budget: CausalComparison.Budget = CausalComparison.Budget()
    ) -> CausalComparison.Outcome {
        CausalComparison.compare(first.recording("A"), second.recording("B"), order: order, budget: budget)
    }

    private func difference(
        _ first: RecordedScript, _ second: RecordedScript, order: CausalComparison.Order = .causal
    ) -> CausalDifference? {
        guard case .different(let difference) = compare(first, second, order: order) else { return nil }
        return difference
    }

    private func areSame(
        _ first: RecordedScript, _ second: RecordedScript, order: CausalComparison.Order = .causal
    ) -> Bool {
        guard case .same = compare(first, second, order: order) else { return false }
        return true
    }

    // MARK: Compared properties

    @Test("deliveries from two threads may interleave, deliveries from one may not change order")
    func order() {
        func run(_ order: [(Int, Int)]) -> RecordedScript {
            script { script in
                for (thread, posts) in [(Self.a, [1, 2]), (Self.b, [3, 4])] {
                    for post in posts {
                        script.record(.post, on: thread, post: post)
                        script.record(.append, on: thread, post: post, observer: 1, target: Self.main)
                    }
                }
                for (post, _) in order { script.deliver(post, on: Self.main) }
            }
        }
        let inOrder = run([(1, 0), (2, 0), (3, 0), (4, 0)])
        #expect(areSame(inOrder, run([(3, 0), (1, 0), (4, 0), (2, 0)])))
        let swapped = difference(inOrder, run([(1, 0), (2, 0), (4, 0), (3, 0)]))
        #expect(swapped?.reason == .post)
        #expect(swapped?.first.line == 13)
        #expect(
            swapped?.explanation
                == [
                    "In A #3 for observer 1 comes before #4 for observer 1, in B #3 for observer 1 after #4 for "
                        + "observer 1."
                ])
        #expect(!areSame(inOrder, run([(3, 0), (1, 0), (4, 0), (2, 0)]), order: CausalComparison.Order.exact))
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
            difference(run(handledOn: Self.a), run(handledOn: Self.b))?.description == """
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
            let difference = difference(run(first), run(second))
            #expect(difference?.first.line == line)
            #expect(difference?.second.line == otherLine)
            #expect(
                difference?.explanation == ["In \(name) #2 for observer 1 was not delivered and has no other outcome."])
        }
    }

    @Test("a different outcome is reported")
    func fate() {
        func run(_ fate: DeliveryStage) -> RecordedScript {
            script { script in
                script.record(.post, post: 1)
                script.record(.append, post: 1, observer: 1, target: Self.a)
                script.record(fate, on: Self.a, post: 1, observer: 1, target: Self.a)
            }
        }
        for (fate, words) in [
            (DeliveryStage.drop, "was dropped"), (.cancel, "was cancelled"), (.coalesce, "was coalesced"),
            (.targetGone, "lost its target thread"),
        ] {
            let difference = difference(run(.deliver), run(fate))
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
        #expect(!areSame(plain, busy, order: .exact))
    }

    @Test("a short number after 0x is not an address, and a thread of another name is another thread")
    func messages() {
        for (one, other, reason) in [
            ("status 0x10", "status 0x11", CausalDifference.Reason.message),
            ("{number = 2, name = a}", "{number = 2, name = c}", .mention),
            ("{number = 1, name = main}", "{number = 2, name = a}", .mention),
        ] {
            let runs = [one, other].map { message in script { $0.record(.log, message: message) } }
            #expect(difference(runs[0], runs[1])?.reason == reason)
        }
    }

    @Test("the name, number of observers, sender type and target are compared")
    func fields() {
        func run(_ write: (inout RecordedScript) -> Void) -> RecordedScript { script(write) }
        let one = run { $0.record(.post, post: 1, count: 2, sender: .init(identifier: 1, type: "Window")) }
        let count = run { $0.record(.post, post: 1, count: 3, sender: .init(identifier: 1, type: "Window")) }
        let sender = run { $0.record(.post, post: 1, count: 2, sender: .init(identifier: 1, type: "Panel")) }
        let same = run { $0.record(.post, post: 1, count: 2, sender: .init(identifier: 2, type: "Window")) }
        #expect(areSame(one, same))
        #expect(difference(one, count)?.reason == .count)
        #expect(difference(one, sender)?.reason == .sender)
        let target = [Self.a, Self.b].map { target in
            run {
                $0.record(.post, post: 1)
                $0.record(.append, post: 1, observer: 1, target: target)
            }
        }
        #expect(difference(target[0], target[1])?.reason == .target)
    }

    /// The descriptions of a difference's two records.
    private func texts(_ difference: CausalDifference?) -> [String?] {
        [difference?.first.text, difference?.second.text]
    }

    @Test("if senders or targets differ, each record shows its own or says that it has none")
    func shown() {
        func register(
            _ target: ThreadIdentity?, _ type: String?, _ stage: DeliveryStage = .register
        ) -> RecordedScript {
            script {
                $0.record(
                    stage, observer: 2, target: target,
                    sender: type.map { DeliveryRecord.Sender(identifier: 1, type: $0) })
            }
        }
        #expect(
            texts(difference(register(nil, nil), register(nil, "Station")))
                == ["register Name observer 2 from any sender", "register Name observer 2 from Station"])
        #expect(
            texts(difference(register(nil, nil, .append), register(nil, "", .append)))
                == [
                    "append Name for observer 2 from no sender",
                    "append Name for observer 2 from a sender of unknown type",
                ])
        #expect(
            texts(difference(register(Self.main, nil), register(nil, nil)))
                == [
                    "register Name observer 2 to be handled on main",
                    "register Name observer 2 to be handled on the posting thread",
                ])
    }

    @Test("if records that differ read the same, the counterpart in the other run is named")
    func renamed() {
        func run(_ register: [Int]) -> RecordedScript {
            script { script in
                for observer in register { script.record(.register, observer: observer) }
                script.record(.append, post: 1, observer: 2)
            }
        }
        let difference = difference(run([2, 1]), run([1, 2]))
        #expect(texts(difference) == ["append Name #1 for observer 2", "append Name #1 for observer 2"])
        #expect(
            difference?.explanation
                == ["They are of different observers.", "observer 2 in A corresponds to observer 1 in B."])
    }

    @Test("threads with one name are shown with their numbers if targets differ")
    func namesakes() {
        func run(_ target: ThreadIdentity) -> RecordedScript {
            script { script in
                for number in 2...3 {
                    script.record(.log, on: RecordedScript.thread(number, "w"), message: "\(number)")
                }
                script.record(.register, observer: 1, target: target)
            }
        }
        #expect(
            texts(difference(run(RecordedScript.thread(2, "w")), run(RecordedScript.thread(3, "w"))))
                == [
                    "register Name observer 1 to be handled on w (thread 2)",
                    "register Name observer 1 to be handled on w (thread 3)",
                ])
    }

    @Test("runs that ended in different ways are different")
    func ends() {
        func run(_ end: DeliveryRecord.Reason) -> RecordedScript { script { $0.record(.end, reason: end) } }
        #expect(areSame(run(.exit), run(.stopped)))
        #expect(difference(run(.exit), run(.signal(11)))?.reason == .end)
        #expect(difference(run(.signal(6)), run(.signal(11)))?.reason == .end)
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
        let count = 24
        let next = (0..<count).map { $0 ^ 1 }
        var generator = SeededGenerator(seed: 3)
        let outcome = compare(
            rings(next, order: Array(0..<count)), rings(next, order: (0..<count).shuffled(using: &generator)))
        guard case .same(_, let threads) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(threads == count)
    }

    @Test("a ring of six threads and two rings of three differ although all threads look alike")
    func ringsDiffer() {
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
        for budget in [
            CausalComparison.Budget(tries: 1, isOver: { false }),
            CausalComparison.Budget(tries: 1000, isOver: { true }),
        ] {
            guard case .undecided(let undecided) = compare(one, two, budget: budget) else {
                Issue.record("decided with \(budget)")
                continue
            }
            #expect(undecided.tries == 1)
            #expect(undecided.description.contains("after 1 try."))
        }
        let asked = Mutex(0)
        let later = CausalComparison.Budget(tries: 1000) {
            asked.withLock { count in
                count += 1
                return count > 2
            }
        }
        guard case .undecided = compare(one, two, budget: later) else {
            Issue.record("decided")
            return
        }
        #expect(asked.withLock { $0 } == 3)
    }

    @Test("runs that are known to differ are never undecided")
    func certain() {
        let one = script { script in for n in 2..<9 { script.record(.log, on: RecordedScript.thread(n), message: "x") }
        }
        let other = script { script in
            for n in 2..<9 { script.record(.log, on: RecordedScript.thread(n), message: n == 5 ? "y" : "x") }
        }
        guard case .different(let difference) = compare(one, other, budget: CausalComparison.Budget(tries: 1) { true })
        else {
            Issue.record("not different")
            return
        }
        #expect(difference.reason == .message || difference.reason == .onlyInFirst)
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

    // MARK: Incomplete recordings

    @Test("an empty recording equals only an empty one")
    func empty() {
        let some = script { $0.record(.log, message: "x") }
        for order in [CausalComparison.Order.causal, .exact, .logged, .loggedExactly] {
            #expect(areSame(RecordedScript(), RecordedScript(), order: order))
            #expect(difference(some, RecordedScript(), order: order)?.reason == .onlyInFirst)
            #expect(difference(RecordedScript(), some, order: order)?.reason == .onlyInSecond)
        }
    }

    @Test("a recording with missing records equals itself, and can be compared with the complete one")
    func pieces() {
        var generator = SeededGenerator(seed: 8)
        for seed in 0..<UInt64(60) {
            let complete = RandomRun(RandomProgram(seed: seed, areAllNamed: seed % 2 == 0), seed: seed).records
            guard !complete.isEmpty else { continue }
            var pieces = complete
            for _ in 0...(complete.count / 10) {
                pieces.remove(at: Int.random(in: 0..<pieces.count, using: &generator))
                if pieces.isEmpty { break }
            }
            let twice = pieces + pieces.suffix(3)
            for order in [CausalComparison.Order.causal, .exact, .logged] {
                for other in [pieces, twice, pieces.reversed()] {
                    let outcome = CausalComparison.compare(Recording(other), Recording(other), order: order)
                    guard case .same = outcome else {
                        Issue.record("seed \(seed): \(outcome)")
                        return
                    }
                    _ = CausalComparison.compare(Recording(complete), Recording(other), order: order)
                }
            }
        }
    }
}
