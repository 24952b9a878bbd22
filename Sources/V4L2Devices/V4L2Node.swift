import CLinux
import DevicePorts
import Glibc
import LinuxIO

/// The target of V4L2 requests: a video device, or a camera part with its own node.
protocol V4L2Node: AnyObject {
    var path: String { get }
    var fileDescriptor: Int32 { get }
}

extension V4L2Node {
    /// Makes one request and repeats it if a signal interrupts it.
    func request<Argument>(_ name: String, _ number: UInt, _ argument: inout Argument) throws(V4L2Error) {
        guard try requestUnless(EINVAL, name, number, &argument) else {
            throw V4L2Error(path, SystemCallError(name, number: EINVAL))
        }
    }

    /// Like `request`, but one error number is an answer: the end of an enumeration, or nothing there yet.
    /// - Returns: false for that error number.
    func requestUnless<Argument>(
        _ expected: Int32, _ name: String, _ number: UInt, _ argument: inout Argument
    ) throws(V4L2Error) -> Bool {
        var status: Int32
        repeat {
            status = withUnsafeMutablePointer(to: &argument) { ioctl(fileDescriptor, number, $0) }
        } while status < 0 && errno == EINTR
        if status >= 0 { return true }
        if errno == expected { return false }
        throw V4L2Error(path, SystemCallError(name))
    }

    /// Sets one control; the driver may adjust the value.
    func setControl(_ entry: inout v4l2_ext_control) throws(V4L2Error) {
        var controls = [entry]
        defer { entry = controls[0] }
        try setControls(&controls)
    }

    /// Sets all controls. If the driver can check beforehand, it sets either all or none.
    func setControls(_ entries: inout [v4l2_ext_control]) throws(V4L2Error) {
        try requestControls("VIDIOC_S_EXT_CTRLS", clinux_vidioc_s_ext_ctrls, &entries)
    }

    /// - Returns: the value; `nil` if the driver does not report it.
    func control(_ id: UInt32) -> Int64? {
        var entry = v4l2_ext_control()
        entry.id = id
        var controls = [entry]
        guard (try? requestControls("VIDIOC_G_EXT_CTRLS", clinux_vidioc_g_ext_ctrls, &controls)) != nil else {
            return nil
        }
        return Int64(controls[0].value)
    }

    private func requestControls(
        _ name: String, _ number: UInt, _ entries: inout [v4l2_ext_control]
    ) throws(V4L2Error) {
        guard !entries.isEmpty else { return }
        let result = entries.withUnsafeMutableBufferPointer { pointer in
            var list = v4l2_ext_controls()
            list.which = UInt32(V4L2_CTRL_WHICH_CUR_VAL)
            list.count = UInt32(pointer.count)
            list.controls = pointer.baseAddress
            return Result { () throws(V4L2Error) in try request(name, number, &list) }
        }
        try result.get()
    }

    /// The meanings of a menu's numbers, without numbers that the driver rejects.
    func menu(_ control: V4L2Control) -> [Int64: Int64] {
        var menu: [Int64: Int64] = [:]
        let (first, last) = (max(0, control.minimum), min(control.maximum, 63))
        guard first <= last else { return [:] }
        for index in first...last {
            var item = v4l2_querymenu()
            item.id = control.id
            item.index = UInt32(index)
            guard (try? requestUnless(EINVAL, "VIDIOC_QUERYMENU", clinux_vidioc_querymenu, &item)) == true else {
                continue
            }
            menu[index] = control.isIntegerMenu ? item.value : index
        }
        return menu
    }

    /// The controls that the node offers, in its driver's order.
    func controls() -> [V4L2Control] {
        var controls: [V4L2Control] = []
        var query = v4l2_query_ext_ctrl()
        let next = UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        query.id = next
        while controls.count < 512,
            (try? requestUnless(EINVAL, "VIDIOC_QUERY_EXT_CTRL", clinux_vidioc_query_ext_ctrl, &query)) == true
        {
            if let control = V4L2Control(query) { controls.append(control) }
            query.id |= next
        }
        return controls
    }
}
