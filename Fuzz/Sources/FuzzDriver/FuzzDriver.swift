import CLibFuzzer
import Glibc

/// The function that libFuzzer calls for each input. The bytes belong to libFuzzer, and are valid only during the call.
public typealias TestOneInput = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Runs libFuzzer with this program's arguments.
public func fuzz(_ testOneInput: @escaping TestOneInput) -> Never {
    var argumentCount = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&argumentCount, &arguments, testOneInput))
}
