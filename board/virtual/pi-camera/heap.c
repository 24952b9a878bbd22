// SPDX-License-Identifier: GPL-2.0
/* The heap of contiguous memory, which libcamera uses only for the table of the lens's shading. */

#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/fcntl.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <uapi/linux/dma-heap.h>

#include "camera.h"
#include "faults.h"

/* More than any table. */
#define ALLOCATION_MAX (1 << 20)

static struct sg_table *map_dma_buf(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	/* Here only the processor reads a table. */
	return ERR_PTR(-EOPNOTSUPP);
}

static void unmap_dma_buf(struct dma_buf_attachment *attachment, struct sg_table *table,
			  enum dma_data_direction direction)
{
}

static int map_pages(struct dma_buf *buffer, struct vm_area_struct *area)
{
	return remap_vmalloc_range(area, buffer->priv, area->vm_pgoff);
}

static int map_address(struct dma_buf *buffer, struct iosys_map *map)
{
	iosys_map_set_vaddr(map, buffer->priv);
	return 0;
}

static void release(struct dma_buf *buffer)
{
	vfree(buffer->priv);
}

static const struct dma_buf_ops buffer_ops = {
	.map_dma_buf = map_dma_buf,
	.unmap_dma_buf = unmap_dma_buf,
	.mmap = map_pages,
	.vmap = map_address,
	.release = release,
};

static int allocate(struct dma_heap_allocation_data *request)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buffer;
	int descriptor;

	if (request->fd || request->heap_flags || request->fd_flags & ~(O_CLOEXEC | O_ACCMODE) || !request->len)
		return -EINVAL;
	if (faults.heap_full || request->len > ALLOCATION_MAX)
		return -ENOMEM;
	info.ops = &buffer_ops;
	info.size = PAGE_ALIGN(request->len);
	info.flags = request->fd_flags;
	info.priv = vmalloc_user(info.size);
	if (!info.priv)
		return -ENOMEM;
	buffer = dma_buf_export(&info);
	if (IS_ERR(buffer)) {
		vfree(info.priv);
		return PTR_ERR(buffer);
	}
	descriptor = dma_buf_fd(buffer, request->fd_flags);
	if (descriptor < 0) {
		dma_buf_put(buffer);
		return descriptor;
	}
	request->fd = descriptor;
	return 0;
}

static long ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct dma_heap_allocation_data request;
	int result;

	if (command != DMA_HEAP_IOCTL_ALLOC)
		return -ENOTTY;
	if (copy_from_user(&request, (void __user *)argument, sizeof(request)))
		return -EFAULT;
	result = allocate(&request);
	if (result)
		return result;
	return copy_to_user((void __user *)argument, &request, sizeof(request)) ? -EFAULT : 0;
}

static const struct file_operations file_ops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "linux,cma",
	.nodename = "dma_heap/linux,cma",
	.fops = &file_ops,
	.mode = 0600,
};

int heap_register(void)
{
	return misc_register(&device);
}

void heap_unregister(void)
{
	misc_deregister(&device);
}
