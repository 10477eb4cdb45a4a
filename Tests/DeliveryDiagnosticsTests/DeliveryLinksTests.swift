import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

@Suite("Delivery links")
struct DeliveryLinksTests {
    private let main = HandMadeRecords.main
    private let worker = HandMadeRecords.worker

    private func links(_ make: (inout HandMadeRecords) -> Void) -> DeliveryLinks {
        var records = HandMadeRecords()
        make(&records)
        return DeliveryLinks(Recording(records.records))
    }

    @Test("a delivery is linked with its post, its append and its return")
    func delivery() {
        let links = links {
            $0.add(0, worker, .post, post: 1)
            $0.add(1, worker, .append, post: 1, observer: 1, target: main)
            $0.add(2, worker, .append, post: 1, observer: 2, target: main)
            $0.add(3, main, .deliver, post: 1, observer: 2)
            $0.add(4, main, .return, post: 1, observer: 2)
        }
        #expect(links.posted == [-1, 0, 0, 0, 0])
        #expect(links.began == [-1, -1, -1, 2, -1])
        #expect(links.ended == [-1, -1, 3, -1, -1])
        #expect(links.mailbox == [-1, 0, 0, -1, -1].map { $0 < 0 ? -1 : 1 })
        #expect(links.partner == [-1, -1, -1, 4, 3])
    }

    @Test("what comes before its post or append has no link")
    func outOfOrder() {
        let links = links {
            $0.add(0, main, .return, post: 1, observer: 1)
            $0.add(1, main, .deliver, post: 1, observer: 1)
            $0.add(2, worker, .append, post: 1, observer: 1, target: main)
            $0.add(3, worker, .post, post: 1)
        }
        #expect(links.posted == [-1, -1, -1, -1])
        #expect(links.began == [-1, -1, -1, -1])
        #expect(links.partner == [-1, -1, -1, -1])
    }

    @Test("a handler that an outer one's return ends has no return, also if one comes later")
    func nested() {
        let links = links {
            $0.add(0, main, .deliver, post: 1, observer: 1)
            $0.add(1, main, .deliver, post: 2, observer: 1)
            $0.add(2, main, .return, post: 1, observer: 1)
            $0.add(3, main, .return, post: 2, observer: 1)
        }
        #expect(links.partner == [2, -1, 0, -1])
    }

    @Test("a wait ends within its thread only, and handlers in it return on their own")
    func waits() {
        let links = links {
            $0.add(0, main, .wait, nil)
            $0.add(1, main, .deliver, post: 1, observer: 1)
            $0.add(2, worker, .waitEnd, nil)
            $0.add(3, main, .return, post: 1, observer: 1)
            $0.add(4, main, .waitEnd, nil)
        }
        #expect(links.partner == [4, 3, -1, 1, 0])
    }

    @Test("the same numbers in two processes are not linked")
    func processes() {
        let links = links {
            $0.add(0, worker, .append, post: 1, observer: 1, target: main, process: 1)
            $0.add(1, main, .deliver, post: 1, observer: 1, process: 2)
        }
        #expect(links.began == [-1, -1])
    }

    @Test("a block has one fate, also when its number is that of nothing else")
    func blocks() {
        let links = links {
            $0.add(0, worker, .append, nil, post: 1, target: main)
            $0.add(1, main, .targetGone, nil, post: 1)
            $0.add(2, main, .cancel, nil, post: 1)
        }
        #expect(links.began == [-1, 0, -1])
        #expect(links.ended == [1, -1, -1])
    }

    @Test("observers that are not told apart get as many links as there are deliveries")
    func documentsObservers() {
        let links = links {
            $0.add(0, worker, .post, post: 1)
            for time in 1...3 as ClosedRange<UInt64> { $0.add(time, worker, .capture, post: 1) }
            for time in 4...5 as ClosedRange<UInt64> { $0.add(time, main, .deliver, post: 1) }
        }
        #expect(Set(links.began[4...]).count == 2)
        #expect(links.began[4...].allSatisfy { (1...3).contains($0) })
        #expect(links.ended[1...3].filter { $0 < 0 }.count == 1)
    }

    @Test("a capture from Foundation is a post of its own, and not something that waits")
    func capture() {
        let links = links {
            $0.add(0, worker, .post, post: 1)
            $0.add(1, worker, .capture, post: 2, count: 1, relatedPost: 1)
            $0.add(2, worker, .append, post: 2, observer: 1, target: main)
        }
        #expect(links.posted == [-1, -1, 1])
        #expect(links.mailbox[1] == -1)
    }

    @Test("a posting queue's post and fates are linked with what was enqueued")
    func queue() {
        let links = links {
            $0.add(0, worker, .enqueue, post: 1, target: main)
            $0.add(1, worker, .enqueue, post: 2, target: main)
            $0.add(2, main, .dequeue, post: 2)
            $0.add(3, main, .post, post: 1)
        }
        #expect(links.began == [-1, -1, 1, 0])
        #expect(links.ended == [3, 2, -1, -1])
    }

    @Test("who registers is whose mailbox it is, where the document's technique delivers nothing")
    func registrant() {
        let links = links {
            $0.add(0, main, .register)
            $0.add(1, worker, .post, post: 1)
            $0.add(2, worker, .capture, post: 1)
        }
        #expect(links.mailbox == [-1, -1, 0])
    }
}
