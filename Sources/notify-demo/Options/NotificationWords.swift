import ArgumentParser
import DistributedNotifications

/// The name and object of a notification or an observer, as arguments.
struct NotificationWords {
    var name: String?
    var object: String?

    /// Checks them before anything is started, as a center does.
    ///
    /// - Throws: `ValidationError`.
    func validate() throws {
        do throws(DistributedError) {
            try DistributedCenter.check(name: name, object: object)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
