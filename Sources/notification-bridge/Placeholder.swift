// Until the sources of this target land.

@main
enum Placeholder {
    static func main() {}
}
