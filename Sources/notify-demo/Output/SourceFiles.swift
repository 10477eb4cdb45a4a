import Foundation

/// Finds the files that source locations name: a path, or a module and a file as in `#fileID`.
///
/// Cost: the first file that is not a path is searched for in the directory and all below it, except hidden ones, and
/// of a very large tree in a part.
final class SourceFiles {
    /// The directory, with a slash at its end.
    private let directory: String
    /// Paths relative to the directory, by the last component.
    private lazy var paths = {
        let files = FileManager.default.enumerator(
            at: URL(filePath: directory), includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        let found = (files ?? .init()).lazy.prefix(100_000).compactMap { $0 as? URL }
        return Dictionary(grouping: found.map { String($0.path.dropFirst(directory.count)) }) {
            $0.split(separator: "/").last ?? ""
        }
    }()

    init(directory: String = FileManager.default.currentDirectoryPath) {
        self.directory = directory.hasSuffix("/") ? directory : directory + "/"
    }

    /// The path of the file relative to the directory; nil if it is not there, or if several files may be meant.
    func path(_ name: String) -> String? {
        let whole = URL(filePath: name, relativeTo: URL(filePath: directory)).standardizedFileURL.path
        if whole.hasPrefix(directory), FileManager.default.fileExists(atPath: whole) {
            return String(whole.dropFirst(directory.count))
        }
        let parts = name.split(separator: "/")
        // The folder of a module has its name.
        let found = paths[parts.last ?? "", default: []].filter { path in
            (directory + path).split(separator: "/").dropLast().contains(parts[0])
        }
        return found.count == 1 ? found[0] : nil
    }
}
