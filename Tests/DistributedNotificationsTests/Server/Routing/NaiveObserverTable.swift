@testable import DistributedNotifications
@testable import NotificationServer

/// A list of all registrations in the order in which they were made, looked through from end to end.
struct NaiveObserverTable {
    private struct Line {
        var client: Int
        var registration: UInt32
        var name: String?
        var object: String?
        var behavior: SuspensionBehavior
    }

    private var lines: [Line] = []

    mutating func register(
        client: Int, registration: UInt32, name: String?, object: String?, behavior: SuspensionBehavior
    ) -> Bool {
        if lines.contains(where: { $0.client == client && $0.registration == registration }) { return false }
        lines.append(Line(client: client, registration: registration, name: name, object: object, behavior: behavior))
        return true
    }

    mutating func unregister(client: Int, registration: UInt32) -> Bool {
        let count = lines.count
        lines.removeAll { $0.client == client && $0.registration == registration }
        return lines.count < count
    }

    mutating func removeClient(_ client: Int) -> Bool {
        let count = lines.count
        lines.removeAll { $0.client == client }
        return lines.count < count
    }

    func matches(name: String, object: String?) -> [ObserverTable.Match] {
        let matching = lines.filter { line in
            guard line.name == nil || line.name == name else { return false }
            guard let wanted = line.object else { return true }
            return wanted == object
        }
        return Set(matching.map(\.client)).sorted().map { client in
            let observers = matching.filter { $0.client == client }
            return ObserverTable.Match(
                client: client,
                observers: observers.map { MatchingObserver(registration: $0.registration, behavior: $0.behavior) })
        }
    }

    func registrations(of client: Int) -> [ObserverTable.Registered] {
        lines.filter { $0.client == client }.map { line in
            ObserverTable.Registered(
                registration: line.registration, name: line.name.map { ByteString($0) },
                object: line.object.map { ByteString($0) }, behavior: line.behavior)
        }
    }
}
