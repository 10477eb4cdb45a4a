import Foundation

/// Finds the files that source locations name: a path, or a module and a file as in `#fileID`.
///
/// Cost: the first file that is not a path is searched for in the directory and all below it, except hidden ones.
final class SourceFiles {
    /// A larger tree is searched in part.
    private static let maximum = 100_000

    /// The directory, with a slash at its end.
    private let directory: String
    /// Paths relative to the directory, by the last component.
    private lazy var paths = Dictionary(grouping: list()) { $0.split(separator: "/").last ?? "" }

    init(directory: String = FileManager.default.currentDirectoryPath) {
        self.directory = directory.hasSuffix("/") ? directory : directory + "/"
    }

    /// A path relative to the directory if the file is in it; otherwise an absolute path, or the name as it is.
    func path(_ name: String) -> String {
        let whole = URL(filePath: name, relativeTo: URL(filePath: directory)).standardizedFileURL.path
        if name.hasPrefix("/") || FileManager.default.fileExists(atPath: whole) {
            return whole.hasPrefix(directory) ? String(whole.dropFirst(directory.count)) : whole
        }
        let parts = name.split(separator: "/")
        guard let file = parts.last, let module = parts.first, let candidates = paths[file] else { return name }
        // The folder of a module usually has its name. A file elsewhere may be that of another module.
        // The directory itself may be that folder.
        let likely = [
            candidates.filter { $0.hasSuffix("/\(name)") },
            candidates.filter { (directory + $0).hasSuffix("/\(name)") },
            candidates.filter { $0.split(separator: "/").dropLast().contains(module) },
        ].first { !$0.isEmpty }
        return likely?.count == 1 ? likely?[0] ?? name : name
    }

    /// The path relative to the directory, if the file is there.
    func existing(_ name: String) -> String? {
        let path = path(name)
        return !path.hasPrefix("/") && FileManager.default.fileExists(atPath: directory + path) ? path : nil
    }

    private func list() -> [String] {
        let files = FileManager.default.enumerator(
            at: URL(filePath: directory), includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        let found = (files ?? .init()).lazy.prefix(Self.maximum).compactMap { $0 as? URL }
        return found.map { String($0.path.dropFirst(directory.count)) }
    }
}
