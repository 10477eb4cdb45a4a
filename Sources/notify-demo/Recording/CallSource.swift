import Foundation

/// The source location of a call or, without debug information, the function that calls.
enum CallSource: Hashable {
    case location(file: String, line: Int)
    /// Its name as the linker has it.
    case function(String)

    /// Reads a line of llvm-symbolizer's output in the style `JSON`. Nil if the line has neither.
    ///
    /// An optimized program has functions of Foundation inlined. The call is in the first function that is not one.
    ///
    /// - Parameter module: the module that the line must be about.
    init?(_ line: some StringProtocol, module: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            object["ModuleName"] as? String == module, let frames = object["Symbol"] as? [[String: Any]]
        else { return nil }
        let callers = frames.filter { frame in
            guard let function = frame["FunctionName"] as? String else { return true }
            return !Self.inFoundation.contains { function.hasPrefix($0) }
        }
        for frame in callers {
            if let file = frame["FileName"] as? String, !file.isEmpty, let line = frame["Line"] as? Int, line > 0 {
                self = .location(file: file, line: line)
                return
            }
        }
        guard let function = callers.first?["FunctionName"] as? String, !function.isEmpty else { return nil }
        self = .function(function)
    }

    /// The beginnings of the names of Swift functions in the modules Foundation and FoundationEssentials.
    private static let inFoundation = ["$s10Foundation", "$s20FoundationEssentials"]

    /// The same with a path relative to a directory if the file is in it.
    ///
    /// - Parameter directory: its path, as the kernel has it.
    func relative(to directory: String) -> CallSource {
        guard case .location(let file, let line) = self, file.hasPrefix("/") else { return self }
        let root = directory.hasSuffix("/") ? directory : directory + "/"
        // The compiler may have had another path of the same file.
        let resolved = URL(filePath: file).resolvingSymlinksInPath().path
        for path in [file, resolved] where path.hasPrefix(root) {
            return .location(file: String(path.dropFirst(root.count)), line: line)
        }
        return self
    }
}
