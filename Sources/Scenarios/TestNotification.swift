internal import Foundation

/// The notification of the documents' examples.
enum TestNotification {
    static let name = "TestNotification"
    static let foundationName = Notification.Name(name)
}
