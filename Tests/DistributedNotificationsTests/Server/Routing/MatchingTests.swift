import SharedTesting
import XCTest

@testable import DistributedNotifications

final class MatchingTests: XCTestCase {
    func testAPostReachesThePostersObserversThatMatchItInTheOrderAdded() throws {
        let temporary = try TemporaryDirectory()
        let server = try ServerInThisProcess(temporary)
        let (peer, other) = (try RawPeer(temporary.directory), try RawPeer(temporary.directory, observing: "B"))
        for (number, name, object) in [
            (9, "A", "o"), (8, "A", nil), (7, nil, "o"), (6, nil, nil), (5, "A", ""), (4, "\u{E9}", nil), (3, "A", "o"),
        ] as [(UInt32, String?, String?)] { try peer.register(number, name: name, object: object) }
        let posts: [(name: String, object: String?, registrations: [UInt32])] = [
            ("A", "o", [9, 8, 7, 6, 3]), ("A", nil, [8, 6]), ("A", "p", [8, 6]), ("B", "o", [7, 6]), ("B", nil, [6]),
            ("A", "", [8, 6, 5]), ("\u{E9}", nil, [6, 4]), ("e\u{301}", nil, [6]),
        ]
        // Again after an observer was added, and after it was removed.
        for added in [[], [1], []] as [[UInt32]] {
            for number in added { try peer.register(number, name: nil) }
            for (name, object, registrations) in posts {
                try peer.write(RawPeer.post(name, object, number: 1))
                let delivered = try peer.delivered()
                XCTAssertEqual(delivered.registrations, registrations + added, "\(name) \(object ?? "-")")
                XCTAssertEqual(delivered.sender, getpid())
            }
            for number in added { try peer.frame(.unregister) { $0.integer(number) } }
        }
        XCTAssertEqual(try other.synchronize().count, 6)
        withExtendedLifetime(server) {}
    }
}
