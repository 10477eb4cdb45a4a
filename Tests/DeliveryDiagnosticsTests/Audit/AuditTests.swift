import DeliveryRecording
import RecordingTesting
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Audit")
struct AuditTests {
    private func audit(_ happen: (inout RecordedStory) -> Void) -> Audit {
        Audit(RecordedStory.complete(happen))
    }

    /// The number of faults of each kind.
    private func faults(_ happen: (inout RecordedStory) -> Void) -> [AuditFault.Kind: Int] {
        audit(happen).faults.countByKind
    }

    // MARK: Complete recordings

    @Test("each outcome is counted for its observer and name")
    func fates() {
        let audit = audit { story in
            story.register(1)
            story.register(2)
            story.deliver(1, to: [1])
            for (post, fate) in [(2, DeliveryStage.coalesce), (3, .drop), (4, .cancel), (5, .targetGone)] {
                story.hand(post, to: [1])
                story.add(fate, post: post, observer: 1, policy: fate == .drop ? .dropNewest : nil)
            }
            story.hand(6, to: [1, 2])
            story.add(.post, post: 7, count: 1)
            story.add(.skip, post: 7, observer: 2)
        }
        #expect(audit.addsUp)
        #expect(audit.unknown.count == 0)
        #expect(
            audit.lines.map(\.counts) == [
                AuditCounters(
                    posted: 6, delivered: 1, coalesced: 1, dropped: 1, cancelled: 1, targetGone: 1, pending: 1),
                AuditCounters(posted: 1, pending: 1, skipped: 1),
            ])
        #expect(audit.lines[0].policies == ["dropNewest"])
    }

    @Test("a delivery before the post returns needs no append, and a block needs no post")
    func atOnceAndBlocks() {
        let audit = audit { story in
            story.register(1, on: RecordedStory.main)
            story.add(.post, post: 1, count: 1)
            story.handle(1, by: 1, on: RecordedStory.main)
            story.add(.append, nil, post: 2, target: RecordedStory.worker)
            story.add(.deliver, on: RecordedStory.worker, nil, post: 2)
            story.add(.return, on: RecordedStory.worker, nil, post: 2)
            story.add(.append, nil, post: 3, target: RecordedStory.worker)
        }
        #expect(audit.addsUp)
        #expect(audit.lines.map(\.counts) == [AuditCounters(posted: 1, delivered: 1)])
        #expect(audit.blocks.map(\.counts) == [AuditCounters(posted: 2, delivered: 1, pending: 1)])
    }

    @Test("in the document's technique each post has one observer, without append or count")
    func technique() {
        let audit = audit { story in
            story.add(.register)
            for post in 1...2 {
                story.add(.post, on: RecordedStory.worker, post: post)
                story.add(.capture, on: RecordedStory.worker, post: post)
            }
            story.add(.deliver, post: 1)
            story.add(.post, on: RecordedStory.worker, "Nobody's", post: 3)
        }
        #expect(audit.addsUp)
        #expect(audit.lines.map(\.counts) == [AuditCounters(posted: 2, delivered: 1, pending: 1)])
    }

    @Test("an enqueued notification is posted, coalesced, dequeued, waiting or has lost its thread")
    func queues() {
        let audit = audit { story in
            for post in 1...5 { story.add(.enqueue, post: post) }
            story.add(.post, post: 1, count: 0)
            story.add(.coalesce, post: 2, relatedPost: 1)
            story.add(.dequeue, post: 3)
            story.add(.targetGone, post: 4)
            story.add(
                .count, nil,
                counters: DeliveryCounters(delivered: 1, waiting: 1, coalesced: 1, cancelled: 1, targetGone: 1))
        }
        #expect(audit.addsUp)
        #expect(
            audit.queues.map(\.counters) == [
                DeliveryCounters(delivered: 1, waiting: 1, coalesced: 1, cancelled: 1, targetGone: 1)
            ])
        #expect(audit.lines.isEmpty)
    }

    @Test("posts that no observer matched are counted for each name, and handlers' threads for each observer")
    func unobservedAndThreads() {
        let audit = audit { story in
            story.register(1, on: nil)
            for (post, thread) in [(1, RecordedStory.main), (2, RecordedStory.other)] {
                story.add(.post, on: thread, post: post, count: 1)
                story.handle(post, by: 1, on: thread)
            }
            for post in 3...5 { story.add(.post, post == 5 ? "Other" : "Gone", post: post, at: 9, count: 0) }
        }
        #expect(audit.unobserved.map(\.count) == [2, 1])
        #expect(audit.lines.map(\.threads.count) == [2])
        #expect(
            AuditReport(audit).text().joined(separator: "\n") == """
                posted  delivered  name and observer
                     2          2  Done  observer 1 on main and other, Demo/main.swift:1

                posted  name without an observer
                     2  Gone, Demo/main.swift:9
                     1  Other, Demo/main.swift:9

                no faults
                """)
    }

    @Test("posts from before the recording are counted separately")
    func earlier() {
        let audit = audit { story in
            story.register(1)
            story.add(.deliver, on: RecordedStory.worker, observer: 1)
            story.add(.return, on: RecordedStory.worker, observer: 1)
        }
        #expect(audit.addsUp)
        #expect(audit.lines.map(\.counts) == [AuditCounters(earlier: 1)])
    }

    // MARK: Faults

    @Test("a match without a record is lost, and its observer is named if it is known")
    func lost() {
        let audit = audit { story in
            story.register(1)
            story.register(2)
            story.register(3, "Another")
            story.add(.post, post: 1, at: 12, count: 2)
            story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
            story.handle(1, by: 1)
        }
        #expect(audit.faults.countByKind == [.lost: 1])
        #expect(
            audit.faults.reported.first?.text
                == "#1 of Done, posted by main at Demo/main.swift:12 (line 4), matched 2 observers, but only 1 has "
                + "records: none for observer 2")
        #expect(audit.lines[1].counts == AuditCounters(posted: 1, lost: 1))
    }

    @Test("in a truncated recording missing records are unknown, not lost")
    func truncated() {
        func happen(_ story: inout RecordedStory) {
            story.register(1)
            story.add(.post, post: 1, count: 1)
            story.add(.append, post: 2, observer: 1, target: RecordedStory.worker)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
        }
        let complete = Audit(RecordedStory.complete(happen))
        #expect(complete.faults.countByKind == [.lost: 1, .lostAtThreadEnd: 1, .withoutPost: 1])
        #expect(complete.unknown.count == 0)
        let truncated = Audit(RecordedStory.truncated(happen))
        #expect(truncated.addsUp)
        #expect(truncated.unknown.countByKind == complete.faults.countByKind)
        let lossy = audit { story in
            happen(&story)
            story.add(.lost, nil, count: 3)
        }
        #expect(lossy.addsUp)
        #expect(lossy.unknown.countByKind == complete.faults.countByKind)
    }

    @Test("a notification is lost if its thread ends later, otherwise pending")
    func pending() {
        let audit = audit { story in
            story.register(1)
            story.register(2, on: RecordedStory.other)
            story.hand(1, to: [1])
            story.hand(2, to: [2], on: RecordedStory.other)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
        }
        #expect(audit.faults.countByKind == [.lostAtThreadEnd: 1])
        #expect(
            audit.lines.map(\.counts) == [AuditCounters(posted: 1, lost: 1), AuditCounters(posted: 1, pending: 1)])
    }

    @Test("a notification for a thread that had ended is pending until targetGone is recorded")
    func afterThreadEnd() {
        let audit = audit { story in
            story.register(1)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
            story.hand(1, to: [1])
        }
        #expect(audit.addsUp)
        #expect(audit.lines.map(\.counts) == [AuditCounters(posted: 1, pending: 1)])
    }

    @Test("a process that ends by a signal has pending notifications, not lost ones")
    func signal() {
        var story = RecordedStory()
        story.register(1)
        story.hand(1, to: [1])
        story.end(.signal(11))
        let audit = Audit(Recording(story.records))
        #expect(audit.addsUp)
        #expect(audit.lines.map(\.counts) == [AuditCounters(posted: 1, pending: 1)])
    }

    @Test(
        "a post during which the program ends is pending, and a finished one is lost",
        arguments: [DeliveryRecord.Reason.exit, .signal(11)])
    func endedInPost(reason: DeliveryRecord.Reason) {
        /// A handler posts. The program ends in the first of the post's two handlers, or after the post.
        func audit(_ isOver: Bool) -> Audit {
            var story = RecordedStory()
            for observer in 1...3 { story.register(observer) }
            story.hand(1, to: [1])
            story.add(.deliver, on: RecordedStory.worker, post: 1, observer: 1, target: RecordedStory.worker)
            story.add(.post, on: RecordedStory.worker, post: 2, count: 2)
            story.add(.deliver, on: RecordedStory.worker, post: 2, observer: 2, target: RecordedStory.worker)
            if isOver {
                story.add(.return, on: RecordedStory.worker, post: 2, observer: 2)
                story.add(.return, on: RecordedStory.worker, post: 1, observer: 1)
            }
            story.end(reason)
            return Audit(Recording(story.records))
        }
        #expect(audit(false).addsUp)
        #expect(audit(false).lines.map(\.counts.pending).reduce(0, +) == 1)
        #expect(audit(true).faults.countByKind == [.lost: 1])
    }

    @Test("a notification is lost if a later one of the same thread was delivered, but not if it is another thread's")
    func passedOver() {
        func faults(overtakes: Bool = false, from thread: ThreadIdentity) -> [AuditFault.Kind: Int] {
            self.faults { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1], from: thread)
                story.add(
                    .deliver, on: RecordedStory.worker, post: 2, observer: 1, target: RecordedStory.worker,
                    overtakes: overtakes)
                story.add(.return, on: RecordedStory.worker, post: 2, observer: 1)
            }
        }
        #expect(faults(from: RecordedStory.main) == [.lost: 1])
        #expect(faults(from: RecordedStory.other).isEmpty)
        #expect(faults(overtakes: true, from: RecordedStory.main).isEmpty)
    }

    @Test("two outcomes of a post, and an outcome after a skip, are faults even in a truncated recording")
    func twoOutcomes() {
        func happen(_ story: inout RecordedStory) {
            story.register(1)
            story.deliver(1, to: [1])
            story.add(.cancel, post: 1, observer: 1)
            story.add(.post, post: 2, count: 1)
            story.add(.skip, post: 2, observer: 1)
            story.add(.cancel, post: 2, observer: 1)
            story.add(.enqueue, post: 3)
            story.add(.dequeue, post: 3)
            story.add(.coalesce, post: 3)
        }
        #expect(Audit(RecordedStory.complete(happen)).faults.countByKind == [.twoOutcomes: 2, .outcomeAfterSkip: 1])
        #expect(Audit(RecordedStory.truncated(happen)).faults.countByKind == [.twoOutcomes: 2, .outcomeAfterSkip: 1])
        #expect(
            Audit(RecordedStory.complete(happen)).faults.reported.first?.text
                == "#1 of Done, posted by main at Demo/main.swift:1001 (line 2), has two outcomes for observer 1: "
                + "deliver on worker, line 4, then cancel on main, line 6")
    }

    @Test("an outcome without a post, too many observers, and an outcome of nothing enqueued are faults")
    func fromNowhere() {
        #expect(
            faults { story in
                story.register(1)
                story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
                story.handle(1, by: 1)
            } == [.withoutPost: 1])
        #expect(
            faults { story in
                story.register(1)
                story.add(.post, post: 1, count: 0)
                story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
                story.handle(1, by: 1)
            } == [.tooMany: 1])
        #expect(faults { $0.add(.dequeue, post: 1) } == [.withoutPost: 1])
    }

    @Test("a delivery on another thread without an append, and a return without a call, are faults")
    func unlikely() {
        #expect(
            faults { story in
                story.register(1)
                story.add(.post, post: 1, count: 1)
                story.handle(1, by: 1)
            } == [.notHandedOver: 1])
        #expect(faults { $0.add(.return, post: 1, observer: 1) } == [.returnWithoutDeliver: 1])
    }

    @Test("the library's counters are compared with the records")
    func counts() {
        func counted(_ counters: DeliveryCounters) -> [AuditFault.Kind: Int] {
            faults { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.add(.count, nil, observer: 1, counters: counters)
            }
        }
        #expect(counted(DeliveryCounters(delivered: 1, waiting: 1)) == [:])
        #expect(counted(DeliveryCounters(delivered: 1, waiting: 2)) == [.miscounted: 1])
        #expect(counted(DeliveryCounters(delivered: 2)) == [.miscounted: 1])
        #expect(counted(DeliveryCounters(delivered: 1)) == [.miscounted: 1])
        #expect(
            faults { story in
                story.add(.enqueue, post: 1)
                story.add(.count, nil, counters: DeliveryCounters(coalesced: 1))
            } == [.miscounted: 1])
    }

    @Test("counters that include notifications from before the recording are not compared")
    func countsFromBefore() {
        #expect(
            faults { story in
                story.register(1)
                story.add(.deliver, on: RecordedStory.worker, observer: 1)
                story.add(.return, on: RecordedStory.worker, observer: 1)
                story.add(.count, nil, observer: 1, counters: DeliveryCounters(delivered: 1))
            } == [:])
    }

    @Test("equal numbers of two processes are kept apart")
    func processes() {
        var story = RecordedStory()
        story.register(1)
        story.deliver(1, to: [1])
        story.end()
        story.process = ProcessIdentity(id: 200, name: "program")
        story.register(1)
        story.hand(1, to: [1])
        story.end()
        let audit = Audit(Recording(story.records))
        #expect(audit.addsUp)
        #expect(
            audit.lines.map(\.counts) == [AuditCounters(posted: 1, delivered: 1), AuditCounters(posted: 1, pending: 1)])
    }
}
