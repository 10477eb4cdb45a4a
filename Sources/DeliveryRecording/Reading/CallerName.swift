internal import Foundation

/// The function or address of a call whose source location is unknown.
enum CallerName {
    /// Longer names are not demangled.
    private static let longest = 2000

    /// The function and the module of a call, `main.foo() -> () + 0x12 (program)`, or `program + 0x12af` if the
    /// function is unknown; `Foundation` for all of its own calls.
    ///
    /// - Parameters:
    ///   - function: `$s4main3fooyyF+0x12`, or without an offset.
    ///   - address: `/bin/program+0x12af`.
    static func text(function: String?, address: String?) -> String {
        if let address, isFoundation(address) { return "Foundation" }
        let place = address.map { address in
            let (module, offset) = split(address)
            return (module: module.split(separator: "/").last.map(String.init) ?? module, offset: offset)
        }
        guard let function else { return place.map { $0.module + $0.offset } ?? "" }
        let (name, offset) = split(function)
        return demangled(name) + offset + (place.map { " (\($0.module))" } ?? "")
    }

    /// The name before an offset, and the offset as ` + 0x12`.
    private static func split(_ text: String) -> (name: String, offset: String) {
        guard let plus = text.range(of: "+0x", options: .backwards) else { return (text, "") }
        return (String(text[..<plus.lowerBound]), " + " + text[plus.lowerBound...].dropFirst())
    }

    /// True for an address in a library of Foundation.
    static func isFoundation(_ address: String) -> Bool {
        address.split(separator: "/").last?.hasPrefix("libFoundation") ?? false
    }

    private static func demangled(_ name: String) -> String {
        guard name.hasPrefix("$s") || name.hasPrefix("$S"), name.utf8.count <= longest,
            let text = swiftDemangle(name, name.utf8.count, nil, nil, 0)
        else { return name }
        defer { free(text) }
        return String(cString: text)
    }
}

/// Of Swift's runtime. Returns null if the name is not a mangled one; otherwise the caller frees the text.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ bufferSize: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
