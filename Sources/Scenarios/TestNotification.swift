package import Foundation

/// The notification of the documents' examples.
package enum TestNotification {
    package static let name = "TestNotification"
    package static let foundationName = Notification.Name(name)
}
