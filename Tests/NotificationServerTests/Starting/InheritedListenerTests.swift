import SharedTesting
import Testing

@testable import DistributedNotifications
@testable import DistributedTesting
@testable import NotificationServer

struct InheritedListenerTests {
    @Test func onlyTheProcessInListenPIDUsesTheDescriptors() {
        #expect(InheritedListener.count(listenPID: "42", listenFDs: "1", process: 42) == 1)
        #expect(InheritedListener.count(listenPID: "42", listenFDs: "3", process: 42) == 3)
        #expect(InheritedListener.count(listenPID: "41", listenFDs: "1", process: 42) == 0)
    }

    @Test(arguments: [nil, "", "0", "-1", "one", "1 ", "99999999999999999999", "1000000"])
    func anInvalidNumberOfDescriptorsMeansNone(count: String?) {
        #expect(InheritedListener.count(listenPID: "42", listenFDs: count, process: 42) == 0)
    }

    @Test(arguments: [nil, "", "0", "42x", "99999999999999999999"])
    func anInvalidProcessMeansNone(process: String?) {
        #expect(InheritedListener.count(listenPID: process, listenFDs: "1", process: 42) == 0)
    }

    @Test func aListenerIsDistinguishedFromOtherDescriptors() throws {
        let temporary = try TemporaryPlace()
        try temporary.place.prepare()
        let path = temporary.place.socketPath
        let socket = try LocalSocket.bound(at: path)
        #expect(try #require(InheritedListener.description(of: socket.descriptor)) == (false, path))
        #expect(socket.listen())
        #expect(try #require(InheritedListener.description(of: socket.descriptor)) == (true, path))
        guard case .connected(let connected) = try LocalSocket.connect(to: path, until: .now + TestTimeout.hang) else {
            Issue.record("not connected")
            return
        }
        #expect(try #require(InheritedListener.description(of: connected.descriptor)) == (false, ""))
        #expect(InheritedListener.description(of: 1_000_000) == nil)
    }
}
