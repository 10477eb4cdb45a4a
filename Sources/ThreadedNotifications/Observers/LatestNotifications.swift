internal import Foundation

/// The notifications that a center retains for observers that are added later: the latest of each name for which it has
/// an observer that receives the latest. A pure value. The caller releases what a method returns after it has released
/// the lock.
struct LatestNotifications {
    /// The latest notification of a name.
    //
    // Safety: a `Notification` is not `Sendable`. The center's lock hands it over, and its object and userInfo are
    // shared with the posting code, as in `Delivery`. A message is a copy.
    struct Latest: @unchecked Sendable {
        let notification: Notification
        /// The original post, without its wait.
        private(set) var post: Post
        /// Increases with each notification of the center, from 1.
        fileprivate(set) var number: UInt64 = 0

        init(_ notification: Notification, of post: Post) {
            self.notification = notification
            self.post = post
            self.post.wait = nil
        }
    }

    private struct Retained {
        var latest: Latest?
        /// The number of observers that receive it.
        var observers = 0
    }

    private var retained: [String: Retained] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { retained.isEmpty }

    func retains(_ name: String) -> Bool { !retained.isEmpty && retained[name] != nil }

    /// - Parameter number: a notification with this number or a smaller one is not returned.
    func latest(of name: String, after number: UInt64 = 0) -> Latest? {
        guard !retained.isEmpty, let latest = retained[name]?.latest, latest.number > number else { return nil }
        return latest
    }

    /// An observer that receives the latest notification of a name is added.
    mutating func retain(_ name: String) { retained[name, default: Retained()].observers += 1 }

    /// Such an observer was removed.
    /// - Returns: the notification that is no longer retained.
    mutating func release(_ name: String) -> Latest? {
        guard let index = retained.index(forKey: name) else { return nil }
        retained.values[index].observers -= 1
        return retained.values[index].observers == 0 ? retained.remove(at: index).value.latest : nil
    }

    /// Replaces the latest notification of a name that is retained.
    /// - Returns: the notification that it replaces.
    mutating func replace(with latest: consuming Latest) -> Latest? {
        lastNumber += 1
        latest.number = lastNumber
        let name = latest.notification.name.rawValue
        guard let index = retained.index(forKey: name) else { return nil }
        let replaced = retained.values[index].latest
        retained.values[index].latest = latest
        return replaced
    }
}
