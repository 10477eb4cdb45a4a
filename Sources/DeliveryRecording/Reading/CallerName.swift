internal import Foundation

/// The function or address of a call whose source location is unknown.
enum CallerName {
    /// Longer names are not demangled.
    private static let longest = 2000

    /// The text for a function, `$s4main3fooyyF+0x12`, which is demangled, or for an address, `/bin/program+0x12af`:
    /// `main.foo() -> () + 0x12` or `program + 0x12af`.
    static func text(_ caller: String) -> String {
        guard let plus = caller.range(of: "+0x", options: .backwards) else { return demangled(caller) }
        let (name, offset) = (String(caller[..<plus.lowerBound]), caller[plus.lowerBound...].dropFirst())
        let shown = name.hasPrefix("/") ? name.split(separator: "/").last.map(String.init) ?? name : demangled(name)
        return "\(shown) + \(offset)"
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
