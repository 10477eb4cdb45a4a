package import Foundation

package enum Repository {
    /// The directory of Package.swift.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
