package import Foundation

extension Notification.Name {
    /// Its object is an increasing number.
    package static let numbered = Notification.Name("n")
}
