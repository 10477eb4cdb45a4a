import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// For each kind of finding a recording that has it, and a twin that lacks only what makes it one.
@Suite("The diagnosis of a recording")
struct DiagnosisTests {
    typealias Story = RecordedStory
    static let window = DeliveryRecord.Sender(identifier: 0x10, type: "Window")
    static let panel = DeliveryRecord.Sender(identifier: 0x20, type: "Panel")

    /// The one finding of a recording, with its kind and the lines of its evidence; and none in its twin.
    private func expect(
        _ kind: Finding.Kind, _ severity: Finding.Severity = .problem, evidence: [Int], says: [String] = [],
        limits: DiagnosisLimits = DiagnosisLimits(), in broken: (inout Story) -> Void,
        notIn twin: (inout Story) -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(
            kind, severity, evidence: evidence, says: says, limits: limits, in: Story.whole(broken),
            notIn: Story.whole(twin), sourceLocation: sourceLocation)
    }

    private func expect(
        _ kind: Finding.Kind, _ severity: Finding.Severity = .problem, evidence: [Int], says: [String] = [],
        limits: DiagnosisLimits = DiagnosisLimits(), in broken: Recording, notIn twin: Recording,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let diagnosis = Diagnosis(broken, limits: limits)
        let findings = diagnosis.findings
        #expect(findings.map(\.kind) == [kind], "\(findings.map(\.problem))", sourceLocation: sourceLocation)
        #expect(diagnosis.hasProblem == (severity == .problem), sourceLocation: sourceLocation)
        if let finding = findings.first {
            let lines = finding.evidence.map { Int(broken.entries[Int($0)].line) }
            #expect(lines == evidence, sourceLocation: sourceLocation)
            for words in says {
                #expect(
                    ([finding.problem] + finding.details).contains { $0.contains(words) },
                    "\(finding.problem) \(finding.details) does not say: \(words)", sourceLocation: sourceLocation)
            }
        }
        let none = Diagnosis(twin, limits: limits).findings
        #expect(none.isEmpty, "\(none.map(\.problem))", sourceLocation: sourceLocation)
    }

    @Test("removed at once, and then posted with nobody to observe it")
    func removedAtOnce() {
        func story(_ keeps: Duration, count: Int = 0) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.pass(keeps)
                story.add(.remove, observer: 1, count: 0)
                for post in 1...3 { story.add(.post, on: Story.worker, post: post, at: 7, count: 0) }
            }
        }
        expect(
            .removedAtOnce, evidence: [1, 2, 3], says: ["was removed 1 ms after it was added", "posted 3 times"],
            in: story(.zero), notIn: story(.seconds(1)))
    }

    @Test("what waits for a thread that goes on to handle is a backlog, and no thread that stopped draining")
    func backlog() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...4 { story.hand(post, to: [1]) }
                for post in 1...3 { story.handle(post, by: 1, for: .milliseconds(600)) }
                if isHandled { story.handle(4, by: 1) }
            }
        }
        expect(
            .backlog, .note, evidence: [9], says: ["1 waits for worker", "the first since 1.8"], in: story(false),
            notIn: story(true))
    }

    @Test("handled on a thread other than the one declared")
    func wrongThread() {
        func story(_ thread: ThreadIdentity) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...3 {
                    story.hand(post, to: [1])
                    story.add(.deliver, on: thread, post: post, observer: 1, target: Story.worker)
                    story.add(.return, on: thread, post: post, observer: 1)
                }
            }
        }
        expect(
            .wrongThread, evidence: [1, 2, 4],
            says: ["observer 1 of Done is to be handled on worker, and was handled on other 3 times"],
            in: story(Story.other), notIn: story(Story.worker))
    }

    @Test("a block performed on another thread than it was handed to")
    func wrongThreadOfBlock() {
        func story(_ thread: ThreadIdentity) -> (inout Story) -> Void {
            { story in
                story.add(.append, nil, post: 1, target: Story.worker)
                story.add(.deliver, on: thread, nil, post: 1)
                story.add(.return, on: thread, nil, post: 1)
            }
        }
        expect(.wrongThread, evidence: [2], in: story(Story.main), notIn: story(Story.worker))
    }

    @Test("handled on main for longer than a budget: a note, and far longer: a problem")
    func mainHeldUp() {
        func story(_ duration: Duration, on thread: ThreadIdentity = Story.main) -> (inout Story) -> Void {
            { story in
                story.register(1, on: thread)
                story.hand(1, to: [1], on: thread, from: Story.other)
                story.handle(1, by: 1, on: thread)
                story.hand(2, to: [1], on: thread, from: Story.other)
                story.handle(2, by: 1, on: thread, for: duration)
            }
        }
        let twin = story(.milliseconds(900), on: Story.worker)
        expect(
            .mainHeldUp, .note, evidence: [1, 8, 9],
            says: ["kept the main thread for 31 ms, and once for longer than 16 ms"],
            in: story(.milliseconds(30)), notIn: twin)
        expect(.mainHeldUp, evidence: [1, 8, 9], in: story(.milliseconds(300)), notIn: story(.milliseconds(14)))
        expect(
            .mainHeldUp, .note, evidence: [1, 8, 9], limits: DiagnosisLimits(mainBudget: .milliseconds(4)),
            in: story(.milliseconds(4)), notIn: story(.milliseconds(2)))
    }

    @Test("what ran in the middle of a handler has a budget of its own")
    func mainHeldUpNested() {
        let recording = Story.whole { story in
            for observer in 1...2 { story.register(observer, "\(observer)", on: Story.main) }
            story.add(.post, "1", post: 1, count: 1)
            story.add(.deliver, "1", post: 1, observer: 1, target: Story.main)
            story.add(.post, "2", post: 2, count: 1)
            story.handle(2, by: 2, on: Story.main, "2", for: .milliseconds(20))
            story.add(.return, "1", post: 1, observer: 1)
        }
        #expect(Diagnosis(recording).findings.map { recording.entries[Int($0.evidence[0])].observer } == [1])
    }

    @Test("posted before anybody observed it")
    func postedUnobserved() {
        func story(_ name: String, sender: DeliveryRecord.Sender? = nil) -> (inout Story) -> Void {
            { story in
                for post in 1...2 {
                    story.add(.post, "Done", post: post, at: 9, count: 0, sender: sender.map { _ in Self.window })
                }
                story.register(1, name, sender: sender)
                story.deliver(3, to: [1], name)
            }
        }
        expect(
            .postedUnobserved, evidence: [1, 3], says: ["Done was posted 2 times before anybody observed it"],
            in: story("Done"), notIn: story("Another"))
        expect(
            .postedUnobserved, evidence: [1, 3], in: story("Done", sender: Self.window),
            notIn: story("Done", sender: Self.panel))
    }

    @Test("of what was posted before, only what is of the sender that is asked for is missed")
    func postedUnobservedSenders() {
        func story(_ sender: DeliveryRecord.Sender) -> (inout Story) -> Void {
            { story in
                story.add(.post, post: 1, count: 0)
                story.add(.post, post: 2, count: 0, sender: Self.window)
                story.register(1, sender: sender)
                story.add(.post, post: 3, count: 1, sender: sender)
                story.add(.append, post: 3, observer: 1, target: Story.worker)
                story.handle(3, by: 1)
            }
        }
        expect(
            .postedUnobserved, evidence: [2, 3], says: ["Done was posted once before"], in: story(Self.window),
            notIn: story(Self.panel))
    }

    @Test("posted by the document's technique before anybody observed it, and not again after a removal")
    func postedUnobservedUncounted() {
        expect(
            .postedUnobserved, evidence: [1, 2],
            in: { story in
                story.add(.post, on: Story.worker, post: 1)
                story.add(.register)
            },
            notIn: { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.add(.remove, observer: 1, count: 0)
                story.add(.post, post: 2, count: 0)
                story.register(2)
                story.deliver(3, to: [2])
            })
    }

    @Test("delivered after removal, but for what ran at that moment")
    func deliveredAfterRemoval() {
        func story(_ running: Int?, on thread: ThreadIdentity = Story.worker) -> (inout Story) -> Void {
            { story in
                story.register(1, on: thread)
                story.hand(1, to: [1], on: thread, from: Story.other)
                story.hand(2, to: [1], on: thread, from: Story.other)
                story.add(.remove, observer: 1, count: running)
                story.handle(1, by: 1, on: thread)
                story.add(.cancel, post: 2, observer: 1)
            }
        }
        expect(
            .deliveredAfterRemoval, evidence: [1, 6, 7], says: ["handed 1 notification after it was removed"],
            in: story(0), notIn: story(1))
        // The thread that removes cannot be in the middle of what begins later.
        expect(
            .deliveredAfterRemoval, evidence: [1, 6, 7], in: story(1, on: Story.main), notIn: story(nil))
    }

    @Test("never got anything: its mapping made nothing of it")
    func neverMapped() {
        func story(_ last: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...3 {
                    story.add(.post, post: post, count: 1)
                    if post < 3 || last == .skip { story.add(.skip, post: post, observer: 1) }
                }
                guard last == .deliver else { return }
                story.add(.append, post: 3, observer: 1, target: Story.worker)
                story.handle(3, by: 1)
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["its mapping made nothing of any of 3 notifications"],
            in: story(.skip), notIn: story(.deliver))
    }

    @Test("who is removed in the middle of a post is passed over, and its mapping made nothing of nothing")
    func removedMeanwhile() {
        let recording = Story.whole { story in
            story.register(1)
            story.add(.post, post: 1, count: 1)
            story.add(.skip, post: 1, observer: 1)
            story.add(.remove, on: Story.other, observer: 1, count: 0)
        }
        #expect(Diagnosis(recording).findings.isEmpty)
    }

    @Test("never got anything: it still waits")
    func neverRun() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                if isHandled { story.handle(1, by: 1) }
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["1 notification for it still waits", "observer 1 of Done"],
            in: story(false), notIn: story(true))
    }

    @Test("never got anything: it asks for another sender's, or another center was posted to")
    func neverMatched() {
        func story(_ asks: DeliveryRecord.Sender?, count: Int?) -> (inout Story) -> Void {
            { story in
                story.register(1, sender: asks)
                story.add(.post, post: 1, at: 9, count: count, sender: Self.panel)
            }
        }
        // What no record counts may be for anybody.
        expect(
            .neverDelivered, evidence: [1, 2],
            says: ["it asks for what Window 0x10 posts, and once others did, such as Panel 0x20"],
            in: story(Self.window, count: 0), notIn: story(nil, count: nil))
        expect(
            .neverDelivered, evidence: [1, 2], says: ["though its name was posted once: to another center"],
            in: story(nil, count: 0),
            notIn: { story in
                story.add(.post, post: 1, count: 0)
                story.register(1, "Another")
                story.add(.remove, "Another", observer: 1, count: 0)
            })
    }

    @Test("senders whose turn did not come are no mismatch, and one that nobody asks for is told of once")
    func sendersOfOthers() {
        func story(_ posted: DeliveryRecord.Sender) -> (inout Story) -> Void {
            { story in
                for (observer, sender) in [Self.window, Self.panel].enumerated() {
                    story.add(.register, observer: observer + 1, target: Story.main, at: 7, sender: sender)
                }
                story.add(.post, post: 1, count: posted == Self.panel ? 1 : 0, sender: posted)
                if posted == Self.panel { story.handle(1, by: 2, on: Story.main) }
            }
        }
        expect(
            .neverDelivered, evidence: [1, 3], says: ["others did, such as Door 0x30. So is it with another"],
            in: story(DeliveryRecord.Sender(identifier: 0x30, type: "Door")), notIn: story(Self.panel))
    }

    @Test("who was matched by a post in which the program ended is not an observer at another center")
    func endedInPost() {
        let recording = Story.whole { story in
            for observer in 1...2 { story.register(observer, on: Story.main) }
            story.add(.post, post: 1, count: 2)
            story.add(.deliver, post: 1, observer: 1, target: Story.main)
        }
        #expect(Diagnosis(recording).findings.map(\.problem) == [])
    }

    @Test("what another thread posts while an observer is being added or removed is not to another center")
    func postedMeanwhile() {
        func story(_ isDuring: Bool) -> (inout Story) -> Void {
            { story in
                story.add(.log, on: Story.other, nil, message: "before")
                story.register(1)
                if !isDuring { story.add(.post, on: Story.other, post: 1, count: 0) }
                story.add(.log, nil, message: "added")
                if isDuring {
                    story.add(.log, on: Story.other, nil, message: "goes on")
                    story.add(.post, on: Story.other, post: 1, count: 0)
                }
                story.add(.log, nil, message: "to be removed")
                story.add(.post, on: Story.other, post: 2, count: 0)
                story.add(.remove, observer: 1, target: Story.worker, count: 0)
            }
        }
        expect(
            .neverDelivered, evidence: [2, 5], says: ["though its name was posted once: to another center"],
            in: story(true), notIn: story(false))
    }

    @Test("never posted under its name, but under nearly the same")
    func misspelt() {
        func story(_ name: String) -> (inout Story) -> Void {
            { story in
                story.register(1, "WindowWillClose")
                story.add(.post, name, post: 1, at: 9, count: 0)
            }
        }
        expect(
            .nameNeverPosted, evidence: [1, 2],
            says: ["WindowWillClose was never posted, and is observed by observer 1. WindowWilClose was posted once"],
            in: story("WindowWilClose"), notIn: story("WindowDidOpen"))
        expect(.nameNeverPosted, evidence: [1, 2], in: story("WINDOWWILLCLOSE"), notIn: story("WindowWillClose2"))
    }

    @Test("one poster's two reach one observer in another order")
    func overtaken() {
        func story(_ order: [Int], by thread: ThreadIdentity = Story.main) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1], from: thread)
                for post in order { story.handle(post, by: 1) }
            }
        }
        expect(
            .overtaken, evidence: [2, 6, 8], says: ["once a later post was handled before an earlier one"],
            in: story([2, 1]), notIn: story([1, 2]))
        expect(.overtaken, evidence: [2, 6, 8], in: story([2, 1]), notIn: story([2, 1], by: Story.other))
    }

    @Test("delivered ahead of what waits, as the policy says: a note")
    func overtakesByPolicy() {
        func story(_ message: String?) -> (inout Story) -> Void {
            { story in
                story.register(1, on: Story.main)
                story.add(.post, post: 1, count: 1)
                story.add(.deliver, post: 1, observer: 1, target: Story.main, message: message)
                story.add(.return, post: 1, observer: 1)
            }
        }
        expect(.overtakesByPolicy, .note, evidence: [1, 3], in: story("ahead of what waits"), notIn: story(nil))
    }

    @Test("more waits than the limit: when, how much, and who posts")
    func flood() {
        func story(_ count: Int) -> (inout Story) -> Void {
            { story in
                story.register(1)
                for post in 1...count {
                    story.hand(post, to: [1], from: post % 4 == 0 ? Story.other : Story.main)
                }
                for post in 1...count { story.handle(post, by: 1) }
            }
        }
        expect(
            .flood, evidence: [3, 25],
            says: [
                "12 notifications waited for worker at once, 24 ms after the beginning",
                "depth over time: ·▁", "█", "(highest 12)", "1 of them: main posts Done at Demo/main.swift:1001",
            ], limits: DiagnosisLimits(depth: 11), in: story(12), notIn: story(11))
    }

    @Test("by the document's technique what is captured waits for the thread that handles it")
    func floodOfTechnique() {
        func story(_ count: Int) -> (inout Story) -> Void {
            { story in
                story.add(.register)
                for post in 1...count {
                    story.add(.post, on: Story.worker, post: post)
                    story.add(.capture, on: Story.worker, post: post)
                }
                for post in 1...count { story.add(.deliver, post: post) }
            }
        }
        expect(
            .flood, evidence: [2, 8], says: ["4 notifications waited for main", "4 of them: worker posts Done"],
            limits: DiagnosisLimits(depth: 3), in: story(4), notIn: story(3))
    }

    /// An observer whose handler posts the next, so many times; also by another observer.
    private func chain(_ length: Int, isGoing: Bool, throughAnother: Bool = false) -> (inout Story) -> Void {
        { story in
            story.register(1, "Ping")
            story.register(2, "Pong", on: Story.other)
            var (observer, name, thread) = (1, "Ping", Story.worker)
            story.hand(1, to: [1], on: thread, name)
            for post in 1...length {
                story.add(.deliver, on: thread, name, post: post, observer: observer, target: thread)
                let next = throughAnother && observer == 1 ? (2, "Pong", Story.other) : (1, "Ping", Story.worker)
                if post < length || isGoing {
                    story.hand(post + 1, to: [next.0], on: next.2, from: thread, next.1)
                }
                story.add(.return, on: thread, name, post: post, observer: observer)
                (observer, name, thread) = next
            }
        }
    }

    @Test("a later post that was made in the middle of the earlier one is told as such")
    func overtakenNested() {
        func story(_ isNested: Bool) -> (inout Story) -> Void {
            { story in
                for observer in 1...2 { story.register(observer, on: Story.main) }
                story.add(.post, post: 1, at: 9, count: 2)
                story.add(.deliver, post: 1, observer: 1, target: Story.main)
                if isNested {
                    story.add(.post, post: 2, at: 10, count: 1)
                    story.handle(2, by: 2, on: Story.main)
                }
                story.add(.return, post: 1, observer: 1)
                story.handle(1, by: 2, on: Story.main)
            }
        }
        expect(
            .overtaken, evidence: [3, 6, 9], says: ["an earlier one, in the middle of which it was made."],
            in: story(true), notIn: story(false))
    }

    @Test("a handler that ends the program has an end, unless by a signal")
    func selfPostingEnds() {
        func recording(_ message: String) -> Recording {
            var story = Story()
            story.register(1, on: Story.main)
            for post in 1...20 {
                story.add(.post, post: post, count: 1)
                story.add(.deliver, post: post, observer: 1, target: Story.main)
            }
            story.end(message)
            return Recording(story.records)
        }
        #expect(Diagnosis(recording("exit")).findings.map(\.kind) == [])
        #expect(Diagnosis(recording("signal 11")).findings.map(\.kind) == [.selfPosting, .endedInHandler])
    }

    @Test("a handler that posts to itself: without end a problem, and very long a note")
    func selfPosting() {
        expect(
            .selfPosting, evidence: [1, 38, 41],
            says: ["observer 1 of Ping posts what makes it handle again: 10 times in a row, and still when"],
            in: chain(10, isGoing: true), notIn: chain(10, isGoing: false))
        expect(
            .selfPosting, .note, evidence: [1, 398, 401], says: ["100 times in a row."],
            limits: DiagnosisLimits(chain: 99), in: chain(100, isGoing: false), notIn: chain(99, isGoing: false))
    }

    @Test("two observers that post to one another without end")
    func pingPong() {
        let findings = Diagnosis(Story.whole(chain(60, isGoing: true, throughAnother: true))).findings
        #expect(findings.map(\.kind) == [.selfPosting])
        #expect(
            findings.first?.problem.contains(
                "observer 1 of Ping posts what makes it handle again, by way of observer 2 of Pong: 30 times") == true)
    }

    @Test("a chain through two is told once, also if both have a long one")
    func longPingPong() {
        let findings = Diagnosis(Story.whole(chain(250, isGoing: false, throughAnother: true))).findings
        #expect(findings.map(\.kind) == [.selfPosting])
    }

    @Test("a handler that enqueues to itself, through a posting queue and a Foundation center")
    func selfPostingThroughQueue() {
        let recording = Story.whole { story in
            story.register(1, on: Story.main)
            story.add(.enqueue, post: 1, target: Story.main, at: 3)
            for step in 0..<12 {
                // A post is enqueued, comes out on the queue's thread, and is captured under a number of its own.
                let (queued, captured) = (step * 2 + 1, step * 2 + 2)
                story.add(.post, post: queued)
                story.add(.capture, post: captured, count: 1, relatedPost: queued)
                story.add(.deliver, post: captured, observer: 1, target: Story.main)
                story.add(.enqueue, post: queued + 2, target: Story.main, at: 3)
                story.add(.return, post: captured, observer: 1)
            }
            story.add(.post, post: 25)
            story.add(.capture, post: 26, count: 1, relatedPost: 25)
            story.add(.append, post: 26, observer: 1, target: Story.main)
        }
        let findings = Diagnosis(recording).findings
        #expect(findings.map(\.kind) == [.selfPosting])
        #expect(findings.first?.problem.contains("12 times in a row, and still when") == true)
    }

    @Test("what is enqueued in a handler and posted in another's is the first one's")
    func causeOfEnqueued() {
        let index = DeliveryIndex(
            Story.whole { story in
                story.register(1, on: Story.main)
                story.add(.post, post: 1, count: 1)
                story.add(.enqueue, post: 2, target: Story.main)
                story.add(.deliver, post: 1, observer: 1, target: Story.main)
                story.add(.post, post: 2, count: 0)
                story.add(.return, post: 1, observer: 1)
            })
        #expect(index.cause == [-1, -1])
    }

    @Test("a thread that stopped draining, while others went on for longer than the limit")
    func stalled() {
        func story(_ duration: Duration) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.pass(duration)
                story.add(.log, nil, message: "main goes on")
            }
        }
        expect(
            .stalled, evidence: [5, 7], says: ["worker stopped draining: 1 notification or block waits for it"],
            in: story(.seconds(2)), notIn: story(.milliseconds(900)))
        expect(
            .stalled, evidence: [5, 7], limits: DiagnosisLimits(stall: .milliseconds(100)),
            in: story(.milliseconds(200)), notIn: story(.milliseconds(50)))
    }

    @Test("a thread that never drained is told of once, and not for each of its observers")
    func neverDrained() {
        func story(_ duration: Duration) -> Recording {
            Story.whole { story in
                for observer in 1...3 {
                    story.register(observer)
                    story.hand(observer, to: [observer])
                }
                story.pass(duration)
            }
        }
        #expect(Diagnosis(story(.seconds(2))).findings.map(\.kind) == [.stalled])
        let kinds = Diagnosis(story(.zero)).findings.map(\.kind)
        #expect(kinds == [.neverDelivered, .neverDelivered, .neverDelivered])
    }

    @Test("that a thread ends the program is not that it goes on")
    func endedByTheStalled() {
        let findings = Diagnosis(
            Story.whole { story in
                story.register(1, on: Story.main)
                story.hand(1, to: [1], on: Story.main, from: Story.worker)
                story.pass(.seconds(2))
            }
        ).findings
        #expect(findings.map(\.kind) == [.stalled])
        #expect(findings.first?.problem.hasPrefix("main stopped draining: 1 notification or block waits") == true)
    }

    @Test("a thread that goes on, and leaves what waits for it")
    func modeNotRun() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.pass(.seconds(2))
                if isHandled { story.handle(2, by: 1) } else { story.add(.drain, on: Story.worker, nil) }
            }
        }
        expect(
            .stalled, evidence: [7, 8], says: ["worker goes on, and leaves what waits for it"], in: story(false),
            notIn: story(true))
    }

    @Test("a handler that never returned is named, with what waits for its thread")
    func neverReturned() {
        func story(_ isBack: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1])
                story.add(.deliver, on: Story.worker, post: 1, observer: 1, target: Story.worker)
                story.pass(.seconds(5))
                guard isBack else { return }
                story.add(.return, on: Story.worker, post: 1, observer: 1)
                story.handle(2, by: 1)
            }
        }
        expect(
            .handlerNeverReturned, evidence: [1, 6],
            says: ["worker is in the handler of observer 1 of Done until the recording ends", "; 1 waits for it"],
            in: story(false), notIn: story(true))
    }

    @Test("a wait that would have closed a cycle was refused")
    func refusedWait() {
        func story(_ stage: DeliveryStage) -> (inout Story) -> Void {
            { $0.add(stage, nil, message: "{number = 2, name = worker} waits for main", at: 4) }
        }
        expect(
            .refusedWait, evidence: [1],
            says: ["it would never have ended", "{number = 2, name = worker} waits for main"],
            in: story(.refuseWait), notIn: story(.log))
    }

    @Test("two threads wait for one another, though never at once: a note")
    func waitsBothWays() {
        func story(_ target: ThreadIdentity, isWordy: Bool = false) -> (inout Story) -> Void {
            { story in
                story.add(.wait, nil, target: Story.worker)
                story.add(.waitEnd, nil)
                story.add(
                    .wait, on: Story.worker, nil, target: isWordy ? nil : target,
                    message: isWordy ? "\(target) to handle Done" : nil)
                story.add(.waitEnd, on: Story.worker, nil)
                story.add(.wait, on: Story.other, nil, target: Story.worker)
            }
        }
        expect(
            .waitsBothWays, .note, evidence: [1, 3], says: ["main for worker for main"], in: story(Story.main),
            notIn: { story in
                story.add(.wait, nil, target: Story.worker)
                story.add(.wait, nil, target: Story.other)
                story.add(.wait, on: Story.worker, nil, target: Story.other)
            })
        expect(
            .waitsBothWays, .note, evidence: [1, 3], in: story(Story.main, isWordy: true),
            notIn: { $0.add(.wait, nil, target: Story.worker) })
    }

    @Test("dropped by an overflow policy: a note, with the policy")
    func dropped() {
        func story(_ fate: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.add(fate, post: 2, observer: 1, message: "drop newest, capacity 2")
            }
        }
        expect(
            .dropped, .note, evidence: [1, 8],
            says: ["policy (drop newest, capacity 2) of observer 1 of Done dropped 1 of 2"], in: story(.drop),
            notIn: story(.cancel))
    }

    @Test("posted for a thread that has ended: a problem; still waiting when it ends: a note")
    func targetGone() {
        func story(endFirst: Bool, _ fate: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                if endFirst { story.add(.threadEnd, on: Story.worker, nil) }
                story.hand(1, to: [1])
                story.add(fate, on: endFirst ? Story.main : Story.worker, post: 1, observer: 1)
                if !endFirst { story.add(.threadEnd, on: Story.worker, nil) }
            }
        }
        expect(
            .targetGone, evidence: [1, 2, 5], says: ["did not get 1 posted after worker had ended"],
            in: story(endFirst: true, .targetGone), notIn: story(endFirst: true, .cancel))
        expect(
            .targetGone, .note, evidence: [1, 4, 5], says: ["did not get 1 still waiting when worker ended"],
            in: story(endFirst: false, .targetGone), notIn: story(endFirst: false, .cancel))
    }

    @Test("a recording that was cut, that lost records, or whose process forked")
    func recording() {
        expect(
            .recordingCut, .note, evidence: [1], in: Story.cut { $0.register(1) }, notIn: Story.whole { $0.register(1) }
        )
        expect(
            .lostRecords, .note, evidence: [1], says: ["7 records could not be kept"],
            in: { $0.add(.lost, nil, count: 7) }, notIn: { $0.add(.log, nil) })
        expect(.fork, .note, evidence: [1], in: { $0.add(.fork, nil) }, notIn: { $0.add(.log, nil) })
    }

    @Test("ended by a signal while a handler ran")
    func endedInHandler() {
        func story(_ message: String, isBack: Bool = false) -> Recording {
            var story = Story()
            story.register(1, on: Story.main)
            story.add(.post, post: 1, count: 1)
            story.add(.deliver, post: 1, observer: 1, target: Story.main)
            if isBack { story.add(.return, post: 1, observer: 1) }
            story.end(message)
            return Recording(story.records)
        }
        expect(
            .endedInHandler, evidence: [1, 3, 4],
            says: ["ended by signal 11 while main was in the handler of observer 1 of Done"], in: story("signal 11"),
            notIn: story("exit"))
        #expect(Diagnosis(story("signal 11", isBack: true)).findings.isEmpty)
    }

    @Test("what the audit cannot account for")
    func unaccounted() {
        expect(
            .unaccounted, evidence: [2, 6], says: ["Two fates of one post for one observer, once: #1 of Done"],
            in: { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.add(.cancel, post: 1, observer: 1)
            },
            notIn: { story in
                story.register(1)
                story.deliver(1, to: [1])
            })
    }

    @Test("the worst is told first, and of a kind the most")
    func order() {
        let recording = Story.whole { story in
            for observer in 1...3 { story.register(observer, "\(observer)") }
            for observer in 1...3 {
                for post in 0..<observer {
                    story.hand(observer * 10 + post, to: [observer], "\(observer)")
                    story.add(.drop, "\(observer)", post: observer * 10 + post, observer: observer)
                }
            }
            for _ in 1...5 { story.add(.fork, nil) }
            story.add(.refuseWait, nil)
        }
        let findings = Diagnosis(recording).findings
        #expect(findings.map(\.kind) == [.refusedWait, .dropped, .dropped, .dropped, .fork])
        #expect(findings.map(\.weight) == [1, 3, 2, 1, 5])
    }
}
