import Foundation
import Glibc
import Testing

@testable import DistributedNotifications

struct ServerStartTests {
    @Test func theFirstToConnectStartsAServerAndTheNextMeetsIt() throws {
        let place = try TemporaryPlace()
        let first = try place.connect()
        let second = try place.connect()
        #expect(first.started)
        #expect(!second.started)
        #expect(first.server == second.server)
    }
}
