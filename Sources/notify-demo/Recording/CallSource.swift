import Foundation

/// The source location of a call or, without debug information, the function that calls.
enum CallSource: Hashable {
    case location(file: String, line: Int)
    /// Its name as the linker has it.
    case function(String)

    /// Reads an object of llvm-symbolizer's output in the style `JSON`. Nil if it has neither.
    ///
    /// An optimized program has functions of Foundation inlined. The call is in the first function whose file is not one
    /// of Foundation: a name does not tell, because an extension of a Foundation type begins like it.
    init?(_ object: [String: Any]) {
        guard let frames = object["Symbol"] as? [[String: Any]] else { return nil }
        for frame in frames {
            if let file = frame["FileName"] as? String, let line = frame["Line"] as? Int, line > 0, !file.isEmpty,
                !["/swift-corelibs-foundation/", "/swift-foundation/"].contains(where: file.contains)
            {
                self = .location(file: file, line: line)
                return
            }
        }
        // The last function contains the others.
        guard let function = frames.last?["FunctionName"] as? String, !function.isEmpty,
            !["$s10Foundation", "$s20FoundationEssentials"].contains(where: function.hasPrefix)
        else { return nil }
        self = .function(function)
    }

    /// The same with the file as `#fileID` has it, if it is in a target of a Swift package; or with a path relative to
    /// a directory, if the file is in it.
    ///
    /// - Parameter directory: its path, as the kernel has it.
    func relative(to directory: String) -> CallSource {
        guard case .location(let file, let line) = self, file.hasPrefix("/") else { return self }
        let parts = file.split(separator: "/")
        if file.hasSuffix(".swift"), let folder = parts.lastIndex(where: { $0 == "Sources" || $0 == "Tests" }),
            folder + 2 < parts.count
        {
            return .location(file: "\(parts[folder + 1])/\(parts[parts.count - 1])", line: line)
        }
        let root = directory.hasSuffix("/") ? directory : directory + "/"
        // The compiler may have had another path of the same file.
        let paths = [file, URL(filePath: file).resolvingSymlinksInPath().path]
        guard let path = paths.first(where: { $0.hasPrefix(root) }) else { return self }
        return .location(file: String(path.dropFirst(root.count)), line: line)
    }
}
