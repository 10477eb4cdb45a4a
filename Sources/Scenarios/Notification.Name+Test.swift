internal import Foundation

extension Notification.Name {
    /// The notification of the documents' examples.
    static let test = Notification.Name("TestNotification")
}
