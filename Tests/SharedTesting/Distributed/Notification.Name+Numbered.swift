package import Foundation

extension Notification.Name {
    /// A name for notifications with increasing numbers as objects.
    package static let numbered = Notification.Name("n")
}
